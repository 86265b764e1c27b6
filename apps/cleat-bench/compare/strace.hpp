// strace: the system calls of a running server, counted by the program strace.

#pragma once

#include "compare/child.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// call_counts are system calls by their names.
using call_counts = std::map<std::string, std::uint64_t>;

/// parse_summary reads the table that `strace -c` writes. Throws std::runtime_error if it has no
/// line with the total, which is the last.
[[nodiscard]] call_counts parse_summary(std::string_view table);

/// call_counter counts the system calls of processes and of all their threads, from its
/// construction to stop. The processes run slower meanwhile.
class call_counter
{
public:
    /// Returns when strace has attached to each process; `folder` takes its files, and `mask` is
    /// its signal mask. Throws std::runtime_error with strace's own words if it may not attach.
    call_counter(
        std::vector<int> const& pids, std::filesystem::path const& folder, sigset_t const& mask);

    /// stop detaches strace and gives the counts. Throws std::runtime_error if it has written none.
    [[nodiscard]] call_counts stop();

private:
    std::filesystem::path table_;
    child strace_;
};

} // namespace cleat::bench
