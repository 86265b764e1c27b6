#include "preload/trace_format.h"
#include "report/recordable.hpp"
#include "report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

// file_size_limit_text says that the limit of a file's size is too small for a trace; empty: it is
// not.
std::string file_size_limit_text(std::uint64_t limit)
{
    if (limit >= trace_tables_bytes)
        return {};
    return fmt::format(
        "no file may be larger than {} KiB here, and a trace takes {} KiB and {} KiB more for each "
        "thread: raise that limit (ulimit -f)",
        limit >> 10, trace_tables_bytes >> 10, trace_block_bytes >> 10);
}

// has_address_sanitizer searches a program for the first function of AddressSanitizer.
bool has_address_sanitizer(std::ifstream& program)
{
    constexpr std::string_view name = "__asan_init";
    std::string block(1 << 20, '\0');
    std::size_t kept = 0; // The end of the block before, in which the name may begin.
    program.clear();
    program.seekg(0);
    while (program.read(block.data() + kept, static_cast<std::streamsize>(block.size() - kept)) ||
           program.gcount() > 0) {
        std::string_view const text{
            block.data(), kept + static_cast<std::size_t>(program.gcount())};
        if (text.find(name) != std::string_view::npos)
            return true;
        kept = std::min(text.size(), name.size() - 1);
        std::copy(text.end() - static_cast<std::ptrdiff_t>(kept), text.end(), block.begin());
    }
    return false;
}

} // namespace

surroundings own_surroundings()
{
    surroundings found;
    if (char const* const options = std::getenv("ASAN_OPTIONS"))
        found.asan_options = options;
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0)
        found.file_size_max = limit.rlim_cur;
    return found;
}

surroundings parse_surroundings(std::string_view environment, std::string_view limits)
{
    constexpr std::string_view variable = "ASAN_OPTIONS=";
    constexpr std::string_view limit = "Max file size";
    surroundings found;
    while (!environment.empty()) {
        std::string_view const entry = environment.substr(0, environment.find('\0'));
        environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
        if (entry.starts_with(variable))
            found.asan_options = entry.substr(variable.size());
    }
    if (std::size_t const line = limits.find(limit); line != limits.npos) {
        limits.remove_prefix(line + limit.size());
        limits.remove_prefix(std::min(limits.find_first_not_of(' '), limits.size()));
        // The word "unlimited" is no number, and leaves it as it is.
        std::from_chars(limits.data(), limits.data() + limits.size(), found.file_size_max);
    }
    return found;
}

std::string why_not_recorded(fs::path const& program, surroundings const& around)
{
    struct stat about
    {
    };
    if (::stat(program.c_str(), &about) == 0 &&
        (((about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid()) ||
         ((about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid())))
        return "it changes its user (set-user-ID), and the system preloads nothing into it";
    std::string limit = file_size_limit_text(around.file_size_max);
    std::ifstream from{program, std::ios::binary};
    Elf64_Ehdr header{};
    if (!from.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::string_view{reinterpret_cast<char const*>(header.e_ident), SELFMAG} != ELFMAG)
        return limit; // A script, which the system runs by its interpreter.
    bool dynamic = false;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part{};
        from.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof part));
        if (!from.read(reinterpret_cast<char*>(&part), sizeof part))
            break;
        dynamic = dynamic || part.p_type == PT_INTERP;
    }
    if (!dynamic)
        return "it is linked statically, so nothing can be preloaded into it";
    bool const allowed = around.asan_options.find("verify_asan_link_order=0") != std::string::npos;
    if (!allowed && has_address_sanitizer(from))
        return "it has AddressSanitizer, which ends a program that something is preloaded into: "
               "set ASAN_OPTIONS=verify_asan_link_order=0, or record a build without it";
    return limit;
}

} // namespace cleat::locks
