#include "thread_times.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace cleat::bench {

thread_times times_of_this_thread() noexcept
{
    thread_times found;
    found.wall = std::chrono::steady_clock::now().time_since_epoch();
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    found.cpu = std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
    // "on a core, waiting for one, turns": Documentation/scheduler/sched-stats.rst of Linux.
    if (std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "re")) {
        std::uint64_t ran = 0;
        std::uint64_t waited = 0;
        std::uint64_t turns = 0;
        // A kernel that keeps no such account writes zeros, and who asks has had a turn.
        if (std::fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &waited, &turns) == 3 &&
            turns != 0)
            found.waited = std::chrono::nanoseconds{waited};
        std::fclose(file);
    }
    return found;
}

thread_times operator-(thread_times const& later, thread_times const& first) noexcept
{
    thread_times between{later.wall - first.wall, later.cpu - first.cpu, std::nullopt};
    if (later.waited && first.waited)
        between.waited = *later.waited - *first.waited;
    return between;
}

} // namespace cleat::bench
