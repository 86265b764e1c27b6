#include "report/per_operation.hpp"

#include <doctest/doctest.h>

namespace cleat::locks::per_operation_test {

namespace {

// A thousand operations of 1 ms CPU; each takes one lock twice, for 10 us.
profile thousand()
{
    profile made;
    made.cpu_ns = 1'000'000'000;
    lock held;
    held.name = "held";
    held.threads = 2;
    held.shared = 1500;
    held.exclusive.acquisitions = 2000;
    held.exclusive.sample = {.count = 100, .ns = 1'000'000};
    held.exclusive.squares = 1e10;
    held.wait_ns = 3'000'000;
    made.locks.push_back(held);
    return made;
}

} // namespace

TEST_CASE("a lock lets through what its holds leave time for, and so many cores saturate it")
{
    profile const recorded = thousand();
    operation_prices const prices = per_operation(recorded, 1000);
    CHECK(prices.cpu_ns == doctest::Approx(1e6));
    CHECK(prices.acquisitions == doctest::Approx(2));
    CHECK(prices.shared == doctest::Approx(1.5));
    CHECK(prices.wait_ns == doctest::Approx(3000));
    REQUIRE(prices.locks.size() == 1);
    CHECK(prices.locks[0].held_ns == doctest::Approx(20'000));
    CHECK(prices.locks[0].operations_per_second_max == doctest::Approx(50'000));
    CHECK(prices.locks[0].cores_max == doctest::Approx(50));
    CHECK(throughput(prices, 8) == doctest::Approx(8000));
    CHECK(throughput(prices, 64) == doctest::Approx(50'000));
}

TEST_CASE("a hold after a wait for a condition is a hold, and no acquisition")
{
    profile recorded = thousand();
    recorded.locks[0].exclusive.retaken = 1000;
    operation_prices const prices = per_operation(recorded, 1000);
    CHECK(prices.locks[0].acquisitions == doctest::Approx(2));
    CHECK(prices.locks[0].held_ns == doctest::Approx(30'000));
}

TEST_CASE("holds in which the thread lost its core are not in the mean, unless all are such")
{
    profile recorded = thousand();
    lock_use& use = recorded.locks[0].exclusive;
    use.sample.interrupted = 4;
    use.sample.interrupted_ns = 40'000'000;
    use.sample.ns += 40'000'000 - 40'000;
    CHECK(use.mean_hold_ns() == doctest::Approx(10'000));
    CHECK(per_operation(recorded, 1000).locks[0].held_ns == doctest::Approx(20'000));
    CHECK(per_operation_text(per_operation(recorded, 1000), 5).find("timed") == std::string::npos);
    use.sample.interrupted = 25;
    CHECK(
        per_operation_text(per_operation(recorded, 1000), 5)
            .find("interrupted in 25 of its 100 timed holds: held is that of the others") !=
        std::string::npos);
    use.sample.interrupted = use.sample.count;
    use.sample.interrupted_ns = use.sample.ns;
    CHECK(use.mean_hold_ns() == doctest::Approx(409'600));
    CHECK(
        per_operation_text(per_operation(recorded, 1000), 5)
            .find("interrupted in all of its 100 timed holds") != std::string::npos);
}

TEST_CASE("where it is not known which holds were interrupted, the text says so")
{
    profile recorded = thousand();
    recorded.interruptions = false;
    CHECK(
        per_operation_text(per_operation(recorded, 1000), 5).find("is not known here") !=
        std::string::npos);
}

TEST_CASE("a lock of one thread, a group of such, and readers keep no thread out")
{
    profile recorded = thousand();
    recorded.locks[0].threads = 1;
    CHECK(per_operation(recorded, 1000).locks[0].cores_max == 0);
    recorded.locks[0].threads = 2;
    recorded.locks[0].group = true;
    CHECK(per_operation(recorded, 1000).locks[0].cores_max == 0);
    recorded.locks[0].group = false;
    std::swap(recorded.locks[0].exclusive, recorded.locks[0].readers);
    operation_prices const read = per_operation(recorded, 1000);
    CHECK(read.locks[0].cores_max == 0);
    CHECK(throughput(read, 64) == doctest::Approx(64'000));
}

TEST_CASE("a lock is one thread's own where others hardly took it, and waits were short")
{
    profile recorded = thousand();
    lock& held = recorded.locks[0];
    held.wait_ns = 0;
    held.busiest = 1981;
    CHECK(per_operation(recorded, 1000).locks[0].cores_max == 0);
    CHECK(
        per_operation_text(per_operation(recorded, 1000), 5).find("one thread's own") !=
        std::string::npos);
    held.busiest = 1980; // A hundredth is others'.
    CHECK(per_operation(recorded, 1000).locks[0].cores_max == doctest::Approx(50));
    CHECK(
        per_operation_text(per_operation(recorded, 1000), 5).find("one thread's own") ==
        std::string::npos);
    held.busiest = 1981;
    held.wait_ns = 200'001; // Held for 20 ms: who took it seldom had it for long.
    CHECK(per_operation(recorded, 1000).locks[0].cores_max > 0);
    held.wait_ns = 0;
    held.exclusive.retaken = 1000; // By another thread.
    CHECK(per_operation(recorded, 1000).locks[0].cores_max > 0);
}

TEST_CASE("readers move the lock's cache line, which is at one core at a time")
{
    profile recorded = thousand();
    std::swap(recorded.locks[0].exclusive, recorded.locks[0].readers);
    recorded.line_ns = 50;
    operation_prices const prices = per_operation(recorded, 1000);
    CHECK(prices.locks[0].line_ns == doctest::Approx(100));
    CHECK(prices.locks[0].operations_per_second_max == doctest::Approx(1e7));
    CHECK(prices.locks[0].cores_max == doctest::Approx(10'000));
    std::string const text = per_operation_text(prices, 5);
    CHECK(
        text.find("readers move its cache line from core to core for 100 ns") != std::string::npos);
    CHECK(text.find("to the next core took 50 ns here") != std::string::npos);

    // A writer keeps all others out while it holds the lock.
    recorded.locks[0].exclusive = thousand().locks[0].exclusive;
    CHECK(
        per_operation(recorded, 1000).locks[0].operations_per_second_max ==
        doctest::Approx(1e9 / 20'100));
}

TEST_CASE("a lock has no figure where a wait took longer than all of its holds")
{
    profile recorded = thousand();
    lock& held = recorded.locks[0];
    held.wait_max_ns = 201'000'000; // All holds together took 20 ms.
    lock fast = held;
    fast.name = "fast";
    fast.wait_max_ns = 0;
    recorded.locks.insert(recorded.locks.begin(), fast);
    operation_prices const prices = per_operation(recorded, 1000);
    CHECK(prices.locks[0].priced->name == "held"); // Before all that have one.
    CHECK(prices.locks[0].operations_per_second_max == 0);
    std::string const text = per_operation_text(prices, 5);
    CHECK(
        text.find("no figure: a wait took 201 ms, and by the holds that were timed all of them "
                  "took 20.0 ms") != std::string::npos);
    CHECK(text.find("Locks without a figure may saturate before all others.") != std::string::npos);

    // On a machine that is busy a thread waits for a core after the lock was free again.
    recorded.locks[1].no_core_ns = 161'000'000;
    CHECK(per_operation(recorded, 1000).locks[0].operations_per_second_max > 0);
    recorded.locks[1].no_core_ns = 0;

    // Holds that somebody waited for are all timed.
    recorded.locks[1].exclusive.waited = {.count = 10, .ns = 2'000'000'000};
    CHECK(per_operation(recorded, 1000).locks[0].refused.empty());
}

TEST_CASE("the number of cores has an interval where holds differ much")
{
    profile recorded = thousand();
    CHECK(per_operation_text(per_operation(recorded, 1000), 5).find("95 %") == std::string::npos);
    // A hundred holds that are 0 or 20 us long, with the same probability.
    recorded.locks[0].exclusive.squares = 2e10;
    std::string const text = per_operation_text(per_operation(recorded, 1000), 5);
    CHECK(text.find("between 41.9 and 62.1 cores (95 %)") != std::string::npos);
}

TEST_CASE("what waits for work is no lock, and saturates nothing")
{
    profile recorded = thousand();
    recorded.locks[0].kind = trace_condition;
    CHECK(per_operation(recorded, 1000).locks.empty());
}

TEST_CASE("the lock that saturates first comes first")
{
    profile recorded = thousand();
    lock worse = recorded.locks[0];
    worse.name = "worse";
    worse.exclusive.sample.ns *= 3;
    worse.shared = 0;
    recorded.locks.push_back(worse);
    CHECK(per_operation(recorded, 1000).locks[0].priced->name == "worse");
}

TEST_CASE("the text says what was assumed, and how far a core more helps")
{
    profile const recorded = thousand();
    std::string const text = per_operation_text(per_operation(recorded, 1000), 5);
    CHECK(text.find("Assumed:") != std::string::npos);
    CHECK(text.find("  64 cores    50.0k/s") != std::string::npos);
    CHECK(text.find("mutex held") != std::string::npos);
}

TEST_CASE("each doubling of cores doubles what they do, until a lock lets no more through")
{
    profile const recorded = thousand();
    std::vector<throughput_point> const points = throughput_by_cores(per_operation(recorded, 1000));
    REQUIRE(points.size() == 8);
    CHECK(points.front().cores == 1);
    CHECK(points.front().operations_per_second == doctest::Approx(1000));
    CHECK(points[5].cores == 32);
    CHECK(points[5].operations_per_second == doctest::Approx(32'000));
    CHECK(points.back().cores == 128);
    CHECK(points.back().operations_per_second == doctest::Approx(50'000));
    CHECK(points.back().without_locks == doctest::Approx(128'000));
}

TEST_CASE("nothing measured is nothing promised")
{
    profile const empty;
    operation_prices const prices = per_operation(empty, 1);
    CHECK(throughput(prices, 64) == 0);
    CHECK(per_operation_text(prices, 5).find("nan") == std::string::npos);
}

} // namespace cleat::locks::per_operation_test
