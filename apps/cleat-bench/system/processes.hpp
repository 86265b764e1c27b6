// processes: CPU and memory of a server on this machine.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace cleat::bench {

/// with_children adds all descendants of the processes that run now.
[[nodiscard]] std::vector<int> with_children(std::vector<int> pids);

/// cpu_of is the time that all threads of these processes and their children have spent on a core,
/// by the scheduler's own clock. Threads that have ended count, processes that have ended do not.
[[nodiscard]] std::chrono::nanoseconds cpu_of(std::vector<int> const& pids);

/// pss_of is the memory of these processes and their children in bytes; pages that several share
/// count once (proportional set size). Pages of files are left out: a connection needs none, and
/// their share falls when the same program is started once more. Zero if the kernel refuses access.
[[nodiscard]] std::uint64_t pss_of(std::vector<int> const& pids);

/// exists: there is such a process.
[[nodiscard]] bool exists(int pid) noexcept;

} // namespace cleat::bench
