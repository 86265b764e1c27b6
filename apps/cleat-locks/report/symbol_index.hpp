// symbol_index: the functions and variables of one loaded file, by address.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

struct Dwfl_Module;

namespace cleat::locks {

/// symbol_index finds the symbol around an address. elfutils goes through all symbols for each
/// address, which takes a server with 100,000 of them a second for the addresses of a trace.
class symbol_index
{
public:
    struct symbol
    {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        char const* name = nullptr; ///< The file's, as long as its module is there.
        int rank = 0;               ///< Of several at one address the highest counts.
    };

    /// The module outlives it. Without a symbol table it is empty.
    explicit symbol_index(Dwfl_Module* module);

    /// For tests: in any order.
    explicit symbol_index(std::vector<symbol> symbols);

    /// around gives the symbol that the address is in; of nested ones the innermost.
    [[nodiscard]] std::optional<symbol> around(std::uint64_t address) const;

private:
    void prepare();

    std::vector<symbol> symbols_;         // In the order of their begin, the best one last.
    std::vector<std::uint64_t> ends_max_; // Of each symbol and those before it.
};

} // namespace cleat::locks
