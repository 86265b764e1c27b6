#include "system/thread_times.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace cleat::bench {

namespace {

thread_times read_once() noexcept
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
        // A kernel without the account writes zeros; a thread that runs has had a turn.
        if (std::fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &waited, &turns) == 3 &&
            turns != 0)
            found.waited = std::chrono::nanoseconds{waited};
        std::fclose(file);
    }
    return found;
}

} // namespace

thread_times times_of_this_thread() noexcept
{
    // A thread that loses its core between two of the clocks reads one of them 20 ms late or more.
    // Its next turn has just begun then, so the next attempt is seldom cut in two as well.
    thread_times best;
    auto shortest = std::chrono::nanoseconds::max();
    for (int tries = 0; tries < 4 && shortest > std::chrono::microseconds{500}; ++tries) {
        thread_times const found = read_once();
        auto const took = std::chrono::steady_clock::now().time_since_epoch() - found.wall;
        if (took < shortest) {
            shortest = took;
            best = found;
        }
    }
    return best;
}

thread_times operator-(thread_times const& later, thread_times const& first) noexcept
{
    thread_times between{later.wall - first.wall, later.cpu - first.cpu, std::nullopt};
    if (later.waited && first.waited)
        between.waited = *later.waited - *first.waited;
    return between;
}

} // namespace cleat::bench
