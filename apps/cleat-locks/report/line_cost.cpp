#include "report/line_cost.hpp"
#include "report/trace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace cleat::locks {
namespace {

constexpr std::size_t line_rounds = 15;
constexpr unsigned each_round = 2000; // Acquisitions of each of the two threads.

// two_cores are the first two that this process may use.
std::optional<std::pair<int, int>> two_cores()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return std::nullopt;
    int first = 0;
    while (!CPU_ISSET(static_cast<std::size_t>(first), &allowed))
        ++first;
    int second = first + 1;
    while (!CPU_ISSET(static_cast<std::size_t>(second), &allowed))
        ++second;
    return std::pair{first, second};
}

void stay_on(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core), &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

// meet returns as both threads are there for the round. They spin: a thread that sleeps would come
// late. On a busy machine the other one may need this core to come.
void meet(std::atomic<unsigned>& arrived, std::size_t round)
{
    ++arrived;
    for (unsigned spins = 0; arrived < 2 * (round + 1); ++spins)
        if (spins % 1024 == 1023)
            ::sched_yield();
}

} // namespace

double measure_line_ns()
{
    std::optional<std::pair<int, int>> const cores = two_cores();
    if (!cores)
        return 0;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    std::atomic<unsigned> arrived = 0;
    std::array<std::uint64_t, line_rounds> took{};
    auto const read = [&](int core, bool measures) {
        stay_on(core);
        for (std::size_t round = 0; round < line_rounds; ++round) {
            meet(arrived, round);
            std::uint64_t const began = now_ns();
            for (unsigned i = 0; i < each_round; ++i) {
                ::pthread_rwlock_rdlock(&lock);
                ::pthread_rwlock_unlock(&lock);
            }
            if (measures)
                took[round] = now_ns() - began;
        }
    };
    std::thread one{read, cores->first, true};
    std::thread other{read, cores->second, false};
    one.join();
    other.join();
    // A round in which one thread lost its core is no measurement; most are good.
    std::ranges::nth_element(took, took.begin() + line_rounds / 2);
    return static_cast<double>(took[line_rounds / 2]) / (2 * each_round);
}

} // namespace cleat::locks
