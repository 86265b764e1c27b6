// processes: what the kernel has accounted to a server on this machine.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace cleat::bench {

/// with_children is the processes and all their descendants, as they are now.
[[nodiscard]] std::vector<int> with_children(std::vector<int> pids);

/// cpu_of is the time that all threads of these processes and their children have spent on a core,
/// by the scheduler's own clock, with threads that have ended. Processes that have ended are not in
/// it.
[[nodiscard]] std::chrono::nanoseconds cpu_of(std::vector<int> const& pids);

/// pss_of is the memory of these processes and their children in bytes, where what several share
/// counts once (proportional set size). Pages of files are left out: a connection needs none, and
/// their share falls whenever somebody else starts the same program. Zero where the kernel does not
/// let us see it.
[[nodiscard]] std::uint64_t pss_of(std::vector<int> const& pids);

/// exists: there is such a process.
[[nodiscard]] bool exists(int pid) noexcept;

} // namespace cleat::bench
