// The subject's modes whose threads and processes behave unusually.

#include "subject.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

using namespace subject;

namespace {

pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;

// pthread_testcancel is the only cancellation point here.
void* lock_without_cancellation(void* until)
{
    for (;;) {
        while (cpu_ns() < *static_cast<std::uint64_t*>(until)) {
            ::pthread_mutex_lock(&own_mutex);
            ::pthread_mutex_unlock(&own_mutex);
        }
        ::pthread_testcancel();
    }
}

[[gnu::noinline]] void lock_it(std::uint64_t hold_ns)
{
    ::pthread_mutex_lock(&own_mutex);
    if (hold_ns > 0)
        pass(hold_ns);
    ::pthread_mutex_unlock(&own_mutex);
}

std::atomic<std::uint64_t> calls = 0;

[[gnu::noinline]] void first_caller()
{
    lock_it(0);
    ++calls; // Keeps the call above from becoming a jump.
}

[[gnu::noinline]] void second_caller()
{
    lock_it(0);
    calls += 2; // Keeps this function from being merged with the other.
}

pthread_key_t last_words;

// It sets its key again as often as libc allows, and locks in each round.
void lock_in_destructor(void* round)
{
    auto const number = reinterpret_cast<std::uintptr_t>(round);
    if (number < PTHREAD_DESTRUCTOR_ITERATIONS)
        ::pthread_setspecific(last_words, reinterpret_cast<void*>(number + 1));
    lock_it(0);
}

mtx_t c11_mutex;
cnd_t c11_condition;
once_flag c11_once = ONCE_FLAG_INIT;
unsigned c11_filled = 0;

} // namespace

void subject::c11(unsigned times)
{
    ::mtx_init(&c11_mutex, mtx_timed);
    ::cnd_init(&c11_condition);
    ::call_once(&c11_once, [] { ++calls; });
    std::atomic<bool> waits_next = false;
    std::thread filler{[&] {
        waits_next.wait(false); // The other thread has the mutex, until it waits.
        for (unsigned i = 0; i < times; ++i) {
            ::mtx_lock(&c11_mutex);
            pass(2'000'000);
            ++c11_filled;
            ::cnd_signal(&c11_condition);
            ::mtx_unlock(&c11_mutex);
        }
    }};
    std::uint64_t waits = 0;
    std::uint64_t wait_ns = 0;
    timespec const until = in_seconds(CLOCK_REALTIME, 60);
    int const had = ::mtx_timedlock(&c11_mutex, &until);
    waits_next = true;
    waits_next.notify_one();
    while (c11_filled < times) {
        std::uint64_t const asked = now_ns();
        if (++waits % 2 == 0)
            ::cnd_wait(&c11_condition, &c11_mutex);
        else
            ::cnd_timedwait(&c11_condition, &c11_mutex, &until);
        wait_ns += now_ns() - asked;
    }
    ::mtx_unlock(&c11_mutex);
    filler.join();
    bool const again = ::mtx_trylock(&c11_mutex) == thrd_success;
    ::mtx_unlock(&c11_mutex);
    std::printf(
        "{\"well\": %d, \"acquisitions\": %u, \"waits\": %llu, \"wait_ns\": %llu}\n",
        had == thrd_success && again, times + 2, static_cast<unsigned long long>(waits),
        static_cast<unsigned long long>(wait_ns));
    ::mtx_destroy(&c11_mutex);
}

void subject::churns(unsigned count)
{
    std::vector<pthread_mutex_t> all(count);
    for (pthread_mutex_t& each : all) {
        ::pthread_mutex_init(&each, nullptr);
        ::pthread_mutex_lock(&each);
        ::pthread_mutex_unlock(&each);
        ::pthread_mutex_destroy(&each);
    }
    std::printf("{\"acquisitions\": %u}\n", count);
}

void subject::unloads(char const* library, std::uint64_t ms)
{
    void* opened = nullptr;
    locker const lock_in_library = locker_in(library, opened);
    for (std::uint64_t const until = cpu_ns() + ms * 1'000'000; cpu_ns() < until;)
        lock_in_library(1000);
    ::dlclose(opened);
}

void subject::unasked(std::uint64_t ms)
{
    std::uint64_t until = ms * 1'000'000;
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, lock_without_cancellation, &until);
    ::pthread_cancel(thread);
    void* thread_result = nullptr;
    ::pthread_join(thread, &thread_result);
    std::printf(
        "{\"cancelled\": %d, \"held\": %d}\n", thread_result == PTHREAD_CANCELED,
        ::pthread_mutex_trylock(&own_mutex) != 0);
}

void subject::callers(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        first_caller();
        second_caller();
    }
    std::printf("{\"acquisitions\": %u}\n", 2 * times);
}

void subject::uneven(unsigned threads, std::uint64_t first_us)
{
    constexpr unsigned others = 15;
    constexpr std::uint64_t other_ns = 2000;
    for (unsigned i = 0; i < threads; ++i)
        std::thread{[&] {
            lock_it(first_us * 1000);
            for (unsigned again = 0; again < others; ++again)
                lock_it(other_ns);
        }}.join();
    std::printf(
        "{\"mean_hold_ns\": %llu}\n",
        static_cast<unsigned long long>((first_us * 1000 + others * other_ns) / (others + 1)));
}

void subject::named()
{
    std::atomic<unsigned> ready = 0;
    for (char const* name : {"reads", "writes"})
        std::thread{[&ready, name] {
            lock_it(0);
            ::pthread_setname_np(::pthread_self(), name);
            ++ready;
            ready.notify_one();
            for (;;)
                ::pause();
        }}.detach();
    for (unsigned now = ready; now < 2; now = ready)
        ready.wait(now);
    std::exit(0);
}

void subject::late_words(unsigned threads)
{
    ::pthread_key_create(&last_words, lock_in_destructor);
    for (unsigned i = 0; i < threads; ++i)
        std::thread{[] { ::pthread_setspecific(last_words, reinterpret_cast<void*>(1)); }}.join();
    std::printf("{\"acquisitions\": %u}\n", threads * PTHREAD_DESTRUCTOR_ITERATIONS);
}

void subject::closes(char const* file)
{
    for (int i = 0; i < 4096; ++i)
        ::close(i);
    std::thread{lock_it, 0}.join(); // The recorder opens its file again for this thread's block.
    std::array<int, 3> opened{};
    for (int& each : opened)
        each = ::open(file, O_CREAT | O_WRONLY | O_APPEND, 0600);
    std::string const said =
        std::to_string(opened[0]) + std::to_string(opened[1]) + std::to_string(opened[2]);
    static_cast<void>(!::write(opened[0], said.data(), said.size()));
}

void subject::clears()
{
    lock_it(0);
    ::clearenv();
    pid_t const child = ::fork();
    if (child == 0) {
        for (int i = 0; i < 100; ++i)
            lock_it(0);
        std::exit(0);
    }
    ::waitpid(child, nullptr, 0);
}
