// The subject's modes for waits that are hard to see: for rare long holds, by trying again, and
// behind the C++ library's own functions.

#include "subject.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace subject;

// The recorder's, where the program is recorded.
extern "C" [[gnu::weak]] void cleat_locks_mark(int ends);

namespace {

pthread_mutex_t rare_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<unsigned> announced = 0; // Long holds that have begun.
std::atomic<pid_t> waiter = 0;
std::atomic<unsigned> failed_tries = 0;
std::atomic<unsigned> taken = 0; // By the thread that waited for long holds.

struct figures
{
    std::uint64_t acquisitions = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t hold_ns = 0;
    std::uint64_t failed = 0;

    void say() const
    {
        std::printf(
            "{\"acquisitions\": %llu, \"wait_ns\": %llu, \"hold_ns\": %llu, \"failed\": %llu}\n",
            static_cast<unsigned long long>(acquisitions), static_cast<unsigned long long>(wait_ns),
            static_cast<unsigned long long>(hold_ns), static_cast<unsigned long long>(failed));
    }
};

void announce()
{
    ++announced;
    announced.notify_one();
}

void until_announced(unsigned count)
{
    for (unsigned now = announced; now < count; now = announced)
        announced.wait(now);
}

// wait_for_long waits for each long hold, and holds the mutex for no time itself.
[[gnu::noinline]] void wait_for_long(unsigned count, figures& measured)
{
    waiter = own_id();
    waiter.notify_one();
    for (unsigned i = 0; i < count; ++i) {
        until_announced(i + 1);
        std::uint64_t const asked = now_ns();
        ::pthread_mutex_lock(&rare_mutex);
        measured.wait_ns += now_ns() - asked;
        ++measured.acquisitions;
        ::pthread_mutex_unlock(&rare_mutex);
        ++taken;
        taken.notify_one();
    }
}

[[gnu::noinline]] void hold_long(std::uint64_t ns)
{
    ::pthread_mutex_lock(&rare_mutex);
    announce();
    until_blocked(waiter, rare_mutex);
    pass(ns);
    ::pthread_mutex_unlock(&rare_mutex);
    // No time passes until the other thread has had it.
    for (unsigned now = taken; now < announced; now = taken)
        taken.wait(now);
}

[[gnu::noinline]] std::uint64_t try_until_taken(std::uint64_t asked)
{
    while (::pthread_mutex_trylock(&rare_mutex) != 0) {
        ++failed_tries;
        ::sched_yield();
    }
    std::uint64_t const waited = now_ns() - asked;
    ::pthread_mutex_unlock(&rare_mutex);
    return waited;
}

void until_failed(unsigned times)
{
    while (failed_tries < times)
        ::sched_yield();
}

// A lock of the program's own, as simple as it can be: 1 while a thread has it.
std::atomic<int> own_futex = 0;

[[gnu::noinline]] void wait_in_own_futex()
{
    while (own_futex.exchange(1) != 0)
        ::syscall(SYS_futex, &own_futex, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_own_futex()
{
    own_futex = 0;
    ::syscall(SYS_futex, &own_futex, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

[[gnu::noinline]] void wait_at_barrier(pthread_barrier_t& barrier)
{
    ::pthread_barrier_wait(&barrier);
}

std::atomic<unsigned> tries_wanted = 0;

// pass_while_tried lets time pass once the other thread has tried the mutex in vain.
void pass_while_tried(std::uint64_t ns)
{
    unsigned const wanted = ++tries_wanted;
    until_failed(wanted);
    pass(ns);
}

[[gnu::noinline]] void even_hold(std::uint64_t ns)
{
    ::pthread_mutex_lock(&rare_mutex);
    pass_while_tried(ns);
    ::pthread_mutex_unlock(&rare_mutex);
}

[[gnu::noinline]] void odd_hold(std::uint64_t ns)
{
    ::pthread_mutex_lock(&rare_mutex);
    pass_while_tried(ns);
    failed_tries += 0; // Keeps this function from being merged with the other.
    ::pthread_mutex_unlock(&rare_mutex);
}

pthread_mutex_t upper = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lower = PTHREAD_MUTEX_INITIALIZER;

// A wrapper that is not inlined, as those of the C++ library without optimization.
[[gnu::noinline]] int mtx_take(pthread_mutex_t* mutex)
{
    int const failed = ::pthread_mutex_lock(mutex);
    asm volatile("" ::: "memory"); // The call above is no tail call.
    return failed;
}

[[gnu::noinline]] void upper_then_lower()
{
    mtx_take(&upper);
    mtx_take(&lower);
    ::pthread_mutex_unlock(&lower);
    ::pthread_mutex_unlock(&upper);
}

[[gnu::noinline]] void lower_then_upper(bool waits)
{
    mtx_take(&lower);
    if ((waits ? mtx_take(&upper) : ::pthread_mutex_trylock(&upper)) == 0)
        ::pthread_mutex_unlock(&upper);
    ::pthread_mutex_unlock(&lower);
}

std::mutex guarded;
std::shared_mutex shared_one;
unsigned counted = 0;

[[gnu::noinline]] void lock_by_guard()
{
    std::lock_guard const lock{guarded};
    ++counted;
}

[[gnu::noinline]] unsigned read_by_guard()
{
    std::shared_lock const lock{shared_one};
    return counted;
}

} // namespace

void subject::rare(unsigned times, unsigned every, std::uint64_t brief_us, std::uint64_t long_us)
{
    figures measured;
    figures waited;
    std::thread other{[&] { wait_for_long(times / every, waited); }};
    waiter.wait(0);
    for (unsigned i = 1; i <= times; ++i) {
        std::uint64_t const ns = (i % every == 0 ? long_us : brief_us) * 1000;
        if (i % every == 0)
            hold_long(ns);
        else {
            ::pthread_mutex_lock(&rare_mutex);
            pass(ns);
            ::pthread_mutex_unlock(&rare_mutex);
        }
        measured.hold_ns += ns;
        ++measured.acquisitions;
    }
    other.join();
    measured.acquisitions += waited.acquisitions;
    measured.wait_ns = waited.wait_ns;
    measured.say();
}

void subject::tries(std::uint64_t ms)
{
    figures measured;
    ::pthread_mutex_lock(&rare_mutex);
    std::thread other{[&] { measured.wait_ns = try_until_taken(now_ns()); }};
    until_failed(3);
    pass(ms * 1'000'000);
    ::pthread_mutex_unlock(&rare_mutex);
    other.join();
    measured.failed = failed_tries;
    measured.say();
}

void subject::gives_up(std::uint64_t ms)
{
    ::pthread_mutex_lock(&rare_mutex);
    std::thread other{[] {
        failed_tries += ::pthread_mutex_trylock(&rare_mutex) != 0 ? 1 : 0;
        ::pthread_mutex_lock(&other_mutex);
        ::pthread_mutex_unlock(&other_mutex);
        announce();
        while (announced < 2)
            ::sched_yield();
        ::pthread_mutex_lock(&rare_mutex);
        ::pthread_mutex_unlock(&rare_mutex);
    }};
    until_announced(1);
    pass(ms * 1'000'000);
    ::pthread_mutex_unlock(&rare_mutex);
    announce();
    other.join();
    figures{}.say();
}

void subject::crowded(unsigned times, std::uint64_t hold_us)
{
    figures measured;
    std::thread other{[&] {
        std::uint64_t asked = 0;
        for (unsigned tried = 1;; ++tried) {
            while (tries_wanted < tried)
                ::sched_yield();
            if (::pthread_mutex_trylock(&rare_mutex) == 0)
                break;
            if (tried == 1)
                asked = now_ns();
            ++failed_tries;
        }
        measured.wait_ns = now_ns() - asked;
        ::pthread_mutex_unlock(&rare_mutex);
    }};
    for (unsigned i = 0; i < times; ++i)
        (i % 2 == 0 ? even_hold : odd_hold)(hold_us * 1000);
    ++tries_wanted; // The mutex is free by now.
    other.join();
    measured.say();
}

void subject::inverted(bool waits)
{
    upper_then_lower();
    std::thread{lower_then_upper, waits}.join();
    figures{}.say();
}

void subject::phases()
{
    int times = 0;
    while (std::scanf("%d", &times) == 1) {
        if (times > 0)
            touch_mutex(static_cast<unsigned>(times));
        else if (cleat_locks_mark != nullptr)
            cleat_locks_mark(times < 0 ? 1 : 0);
        std::printf("done\n");
        std::fflush(stdout);
    }
}

void subject::futex_of_its_own(std::uint64_t ms)
{
    figures measured;
    wait_in_own_futex(); // It does not wait.
    std::thread other{[&] {
        waiter = own_id();
        waiter.notify_one();
        std::uint64_t const asked = now_ns();
        wait_in_own_futex();
        measured.wait_ns = now_ns() - asked;
        wake_own_futex();
    }};
    waiter.wait(0);
    until_blocked(waiter, own_futex);
    pass(ms * 1'000'000);
    wake_own_futex();
    other.join();
    measured.say();
}

void subject::unseen(std::uint64_t ms)
{
    pthread_barrier_t barrier;
    ::pthread_barrier_init(&barrier, nullptr, 2);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        std::abort();
    std::thread at_barrier{[&] { wait_at_barrier(barrier); }};
    std::thread at_pipe{[&] {
        ::pthread_setname_np(::pthread_self(), "caf\xe9"); // Latin-1.
        char byte = 0;
        static_cast<void>(!::read(ends[0], &byte, 1));
    }};
    pass(ms * 1'000'000);
    static_cast<void>(!::write(ends[1], "", 1));
    wait_at_barrier(barrier);
    at_barrier.join();
    at_pipe.join();
    figures{}.say();
}

void subject::wrapped(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        lock_by_guard();
        counted += read_by_guard() / (times + 1);
    }
    std::printf("{\"acquisitions\": %u}\n", 2 * times);
}
