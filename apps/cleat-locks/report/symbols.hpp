// symbols: names for the addresses of a process that may have ended, from its memory map and the
// files in it.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::locks {

/// place is the function and the source line of an address, as far as its file has them.
struct place
{
    std::string function; ///< Readable; without a symbol "file+0x1234", without a file "[vdso]".
    std::string file;     ///< Of the source; empty: the program has no line numbers.
    int line = 0;
    std::string module; ///< The program's or library's own name: "libcrypto.so.3".
    bool inlined = false;
};

/// symbols finds names with elfutils, from the files' own debugging information or, where they were
/// stripped, from their symbol tables. Used by one thread.
class symbols
{
public:
    /// Throws std::runtime_error for a map that cannot be read.
    explicit symbols(std::string const& maps);
    symbols(symbols&&) noexcept;
    ~symbols();

    /// functions_at gives the functions at an address: the innermost inlined one first, the one
    /// with the code last. `returns`: it is where a call goes on, so the call is before it. Code
    /// that is in no file is one function for each kind: "[vdso]" for the kernel's own, "[anon]"
    /// for code that the program made; an address outside of the map is a number.
    [[nodiscard]] std::vector<place> const& functions_at(std::uint64_t address, bool returns);

    /// object_at names the object at an address: "global_lock", "libcrypto.so.3+0x1234", or an
    /// empty string for memory of no file, such as the heap.
    [[nodiscard]] std::string object_at(std::uint64_t address);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

/// with_earlier gives a process's memory map with the mappings of an earlier one added, except
/// those whose addresses are used again.
[[nodiscard]] std::string with_earlier(std::string_view maps, std::string_view earlier);

/// code_files are the files with code in a process's memory map, each once.
[[nodiscard]] std::vector<std::string> code_files(std::string_view maps);

} // namespace cleat::locks
