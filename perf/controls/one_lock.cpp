// one_lock.cpp: how often threads can take a read-write lock for reading that all of them use, and
// let go of it. Readers keep no reader out; they wait for the lock's cache line.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace {

using std::chrono::steady_clock;

// A page each: no two locks have a line of the cache together, nor neighbours of one.
struct alignas(4096) place
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    std::uint64_t times = 0;
};

void run_on(unsigned core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
}

// take acquires the lock until `stop` is set, and returns how often it did.
std::uint64_t take(pthread_rwlock_t& lock, std::atomic<bool> const& stop)
{
    std::uint64_t times = 0;
    while (!stop.load(std::memory_order_relaxed))
        for (int i = 0; i < 64; ++i, ++times) {
            ::pthread_rwlock_rdlock(&lock);
            ::pthread_rwlock_unlock(&lock);
        }
    return times;
}

} // namespace

int main(int argc, char** argv)
{
    unsigned threads = 2;
    double seconds = 1;
    bool apart = false;
    CLI::App app{"Threads that take one read-write lock for reading, a core each"};
    app.add_option("--threads", threads)->check(CLI::Range(1U, 1024U));
    app.add_option("--seconds", seconds)->check(CLI::PositiveNumber);
    app.add_flag("--apart", apart, "a lock for each");
    CLI11_PARSE(app, argc, argv);

    std::vector<place> places(threads);
    std::atomic<bool> stop = false;
    std::vector<std::jthread> all;
    auto const began = steady_clock::now();
    for (unsigned i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            run_on(i % std::max(1U, std::thread::hardware_concurrency()));
            places[i].times = take(places[apart ? i : 0].lock, stop);
        });
    // house(sleep): how long it is done is what is asked for
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
    all.clear();
    std::chrono::duration<double, std::nano> const took = steady_clock::now() - began;
    std::uint64_t times = 0;
    for (place const& each : places)
        times += each.times;
    std::printf(
        "{\"threads\": %u, \"ns\": %.2f}\n", threads, took.count() / static_cast<double>(times));
    return EXIT_SUCCESS;
}
