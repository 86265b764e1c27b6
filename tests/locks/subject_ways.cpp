// The subject's modes for the ways to acquire a lock: with a deadline of either clock, without
// waiting, in a library that is opened at run time, and in a deadlock; and for a lock whose memory
// is gone.

#include "subject.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

using namespace subject;

timespec subject::in_seconds(clockid_t clock, time_t seconds)
{
    timespec when{};
    ::clock_gettime(clock, &when);
    when.tv_sec += seconds;
    return when;
}

namespace {

// A lock for each way; each has a name of its own in the report.
pthread_mutex_t timed_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t clocked_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t timed_read = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t timed_write = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t clocked_read = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t clocked_write = PTHREAD_RWLOCK_INITIALIZER;

struct way
{
    char const* name;
    void const* lock;
    std::size_t size;
    int (*hold)();
    int (*ask)(timespec const& realtime, timespec const& monotonic);
    int (*attempt)();
    int (*release)();
};

int unlock(pthread_mutex_t& lock)
{
    return ::pthread_mutex_unlock(&lock);
}

int unlock(pthread_rwlock_t& lock)
{
    return ::pthread_rwlock_unlock(&lock);
}

constexpr std::array all_ways{
    way{"timed_mutex", &timed_mutex, sizeof timed_mutex,
        [] { return ::pthread_mutex_lock(&timed_mutex); },
        [](timespec const& t, timespec const&) {
            return ::pthread_mutex_timedlock(&timed_mutex, &t);
        },
        [] { return ::pthread_mutex_trylock(&timed_mutex); }, [] { return unlock(timed_mutex); }},
    way{"clocked_mutex", &clocked_mutex, sizeof clocked_mutex,
        [] { return ::pthread_mutex_lock(&clocked_mutex); },
        [](timespec const&, timespec const& t) {
            return ::pthread_mutex_clocklock(&clocked_mutex, CLOCK_MONOTONIC, &t);
        },
        [] { return ::pthread_mutex_trylock(&clocked_mutex); },
        [] { return unlock(clocked_mutex); }},
    way{"timed_read", &timed_read, sizeof timed_read,
        [] { return ::pthread_rwlock_wrlock(&timed_read); },
        [](timespec const& t, timespec const&) {
            return ::pthread_rwlock_timedrdlock(&timed_read, &t);
        },
        [] { return ::pthread_rwlock_tryrdlock(&timed_read); }, [] { return unlock(timed_read); }},
    way{"timed_write", &timed_write, sizeof timed_write,
        [] { return ::pthread_rwlock_wrlock(&timed_write); },
        [](timespec const& t, timespec const&) {
            return ::pthread_rwlock_timedwrlock(&timed_write, &t);
        },
        [] { return ::pthread_rwlock_trywrlock(&timed_write); },
        [] { return unlock(timed_write); }},
    way{"clocked_read", &clocked_read, sizeof clocked_read,
        [] { return ::pthread_rwlock_wrlock(&clocked_read); },
        [](timespec const&, timespec const& t) {
            return ::pthread_rwlock_clockrdlock(&clocked_read, CLOCK_MONOTONIC, &t);
        },
        [] { return ::pthread_rwlock_tryrdlock(&clocked_read); },
        [] { return unlock(clocked_read); }},
    way{"clocked_write", &clocked_write, sizeof clocked_write,
        [] { return ::pthread_rwlock_wrlock(&clocked_write); },
        [](timespec const&, timespec const& t) {
            return ::pthread_rwlock_clockwrlock(&clocked_write, CLOCK_MONOTONIC, &t);
        },
        [] { return ::pthread_rwlock_trywrlock(&clocked_write); },
        [] { return unlock(clocked_write); }},
};

struct outcome
{
    int attempted = 0; // The results of the three calls.
    int timed_out = 0;
    int got = 0;
    std::uint64_t wait_ns = 0; // Of the last two calls.
};

outcome try_way(way const& each_way, std::uint64_t hold_ns)
{
    outcome found;
    std::atomic<bool> held = false;
    std::atomic<bool> asks = false;
    pid_t const asker = own_id();
    std::thread holder{[&] {
        each_way.hold();
        held = true;
        held.notify_one();
        asks.wait(false);
        until_blocked(asker, each_way.lock, each_way.size);
        pass(hold_ns);
        each_way.release();
    }};
    held.wait(false);
    found.attempted = each_way.attempt();
    timespec const past{};
    std::uint64_t asked = now_ns();
    found.timed_out = each_way.ask(past, past);
    found.wait_ns += now_ns() - asked;
    asks = true;
    asks.notify_one();
    asked = now_ns();
    found.got = each_way.ask(in_seconds(CLOCK_REALTIME, 60), in_seconds(CLOCK_MONOTONIC, 60));
    found.wait_ns += now_ns() - asked;
    each_way.release();
    holder.join();
    return found;
}

pthread_mutex_t first_of_two = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second_of_two = PTHREAD_MUTEX_INITIALIZER;
std::atomic<unsigned> in_embrace = 0;

[[gnu::noinline]] void embrace(
    pthread_mutex_t& own, pthread_mutex_t& others, std::atomic<pid_t>& thread)
{
    ::pthread_mutex_lock(&own);
    thread = own_id();
    ++in_embrace;
    in_embrace.notify_all();
    for (unsigned now = in_embrace; now < 2; now = in_embrace)
        in_embrace.wait(now);
    ::pthread_mutex_lock(&others); // The deadlock.
    ::pthread_mutex_unlock(&others);
    ::pthread_mutex_unlock(&own);
}

} // namespace

void subject::ways(std::uint64_t ms)
{
    char const* between = "{";
    for (way const& each_way : all_ways) {
        outcome const found = try_way(each_way, ms * 1'000'000);
        bool const well =
            found.attempted == EBUSY && found.timed_out == ETIMEDOUT && found.got == 0;
        std::printf(
            "%s\"%s\": {\"well\": %d, \"wait_ns\": %llu}", between, each_way.name, well,
            static_cast<unsigned long long>(found.wait_ns));
        between = ", ";
    }
    std::printf("}\n");
}

subject::locker subject::locker_in(char const* library, void*& opened)
{
    opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
        std::fprintf(stderr, "subject: %s\n", ::dlerror());
        std::exit(2);
    }
    return reinterpret_cast<locker>(::dlsym(opened, "lock_in_library"));
}

void subject::opens(char const* library, unsigned times)
{
    void* opened = nullptr;
    locker const lock_in_library = locker_in(library, opened);
    lock_in_library(times);
    std::thread other{lock_in_library, times};
    other.join();
    std::printf("{\"acquisitions\": %u}\n", 2 * times);
}

void subject::deadlock(std::uint64_t ms)
{
    static std::atomic<pid_t> first;
    static std::atomic<pid_t> second;
    std::thread{embrace, std::ref(first_of_two), std::ref(second_of_two), std::ref(first)}.detach();
    std::thread{embrace, std::ref(second_of_two), std::ref(first_of_two), std::ref(second)}
        .detach();
    for (unsigned now = in_embrace; now < 2; now = in_embrace)
        in_embrace.wait(now);
    until_blocked(first, second_of_two);
    until_blocked(second, first_of_two);
    pass(ms * 1'000'000);
    std::exit(0);
}

void subject::unreadable()
{
    constexpr std::size_t page = 4096;
    void* const pages =
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        std::abort();
    char* const second = static_cast<char*>(pages) + page;
    std::size_t const owner = offsetof(pthread_rwlock_t, __data.__cur_writer);
    auto* const lock = reinterpret_cast<pthread_rwlock_t*>(second - owner);
    ::pthread_rwlock_init(lock, nullptr);
    ::pthread_rwlock_wrlock(lock);
    std::atomic<pid_t> waiter = 0;
    std::thread other{[&] {
        ::pthread_mutex_lock(&first_of_two);
        waiter = own_id();
        waiter.notify_one();
        ::pthread_rwlock_wrlock(lock);
        ::pthread_rwlock_unlock(lock);
        ::pthread_mutex_unlock(&first_of_two);
    }};
    waiter.wait(0);
    until_blocked(waiter, *lock);
    ::mprotect(second, page, PROT_NONE);
    timespec const past{};
    int const timed_out = ::pthread_mutex_timedlock(&first_of_two, &past);
    ::mprotect(second, page, PROT_READ | PROT_WRITE);
    ::pthread_rwlock_unlock(lock);
    other.join();
    std::printf("{\"timed_out\": %d}\n", timed_out == ETIMEDOUT ? 1 : 0);
}
