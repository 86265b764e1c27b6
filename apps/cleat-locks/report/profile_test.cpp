#include "report/off_cpu_text.hpp"
#include "report/profile.hpp"
#include "report/window.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace cleat::locks::profile_test {

namespace {

trace_lock entry(std::uint64_t address, std::uint64_t made_at, bool group, std::uint64_t instances)
{
    trace_lock made{};
    made.address = address;
    made.made_at = made_at;
    made.kind = trace_mutex;
    made.flags = group ? trace_group : 0;
    made.instances = instances;
    made.threads = group ? 0 : 3;
    made.threads_max = group ? 2 : 0;
    made.ready = 1;
    return made;
}

// site adds one to what a thread did. In place: a trace_site keeps to lines of the cache, and g++
// 12 misplaces locals that do in the frames that AddressSanitizer keeps (its bug 110027).
trace_site& site(traced_thread& thread, std::uint32_t lock)
{
    trace_site& made = thread.sites.emplace_back();
    made.key = 1;
    made.lock = lock;
    return made;
}

void took(traced_thread& thread, std::uint32_t lock, std::uint64_t times)
{
    trace_site& made = site(thread, lock);
    made.return_to = 0x1000;
    made.how = trace_exclusive;
    made.acquisitions = times;
}

// A group, and a lock of it that a second thread has touched.
traced_process group_and_member(std::uint64_t instances)
{
    traced_process made;
    made.pid = 7;
    made.locks = {entry(0x5000, 0x2000, true, instances), entry(0x5000, 0x2000, false, 1)};
    traced_thread& thread = made.threads.emplace_back();
    took(thread, 0, 10);
    took(thread, 1, 4);
    return made;
}

} // namespace

TEST_CASE("a group of one lock is that lock, also after a second thread touched it")
{
    profile const found = make_profile({group_and_member(1)});
    REQUIRE(found.locks.size() == 1);
    CHECK(found.locks[0].acquisitions() == 14);
    CHECK_FALSE(found.locks[0].group);
    CHECK(found.locks[0].threads == 2);
    CHECK(found.locks[0].name == "0x5000, made in 0x2000");
}

TEST_CASE("a group of many keeps the counts from before one of them got its own entry")
{
    profile const found = make_profile({group_and_member(2)});
    REQUIRE(found.locks.size() == 2);
    CHECK(found.locks[0].acquisitions() == 10);
    CHECK(found.locks[0].group);
    CHECK(found.locks[0].name == "made in 0x2000");
    CHECK(found.locks[1].acquisitions() == 4);
}

TEST_CASE("the thread that takes a lock most is known, except among threads that share a block")
{
    traced_process made = group_and_member(2);
    made.threads[0].threads = 1;
    profile const handed_on = make_profile({made});
    CHECK(handed_on.locks[1].threads == 2);
    CHECK(handed_on.locks[1].busiest == 4);
    CHECK(handed_on.locks[1].one_threads_own());

    // Some of the four may be by another thread that had this block before.
    made.threads[0].threads = 2;
    profile const in_turns = make_profile({made});
    CHECK(in_turns.locks[1].busiest == 0);
    CHECK_FALSE(in_turns.locks[1].one_threads_own());

    // Each of the two threads has a block of its own.
    took(made.threads.emplace_back(), 1, 3);
    profile const each_its_own = make_profile({made});
    CHECK(each_its_own.locks[1].busiest == 4);
    CHECK_FALSE(each_its_own.locks[1].one_threads_own());
}

TEST_CASE("a mutex that is taken again after a wait for a condition is a hold, and no acquisition")
{
    traced_process process = group_and_member(1);
    trace_site& retaken = site(process.threads[0], 1);
    retaken.how = trace_again;
    retaken.acquisitions = 5;
    retaken.holds = 2;
    retaken.hold_ns = 3000;
    retaken.interrupted = 1;
    retaken.interrupted_ns = 2600;
    process.clock_ns = 100;
    process.threads[0].nested = 6;
    profile const found = make_profile({process});
    REQUIRE(found.locks.size() == 1);
    CHECK(found.locks[0].acquisitions() == 14);
    CHECK(found.locks[0].exclusive.retaken == 5);
    CHECK(found.locks[0].exclusive.interrupted() == 1);
    CHECK(found.locks[0].exclusive.mean_hold_ns() == doctest::Approx(300));
    CHECK(found.total.acquisitions == 14);
    CHECK(found.processes[0].nested == 6);
    CHECK_FALSE(found.interruptions);
}

TEST_CASE("acquisitions without a stack get one of the address that is known")
{
    profile const found = make_profile({group_and_member(1)});
    CHECK(found.total.acquisitions == 14);
    REQUIRE(found.stacks.size() == 1);
    CHECK(found.functions[found.stacks[0].functions[0]] == "pthread_mutex_lock");
    CHECK(found.functions[found.stacks[0].functions[1]] == "0x1000");
}

TEST_CASE("a process that is not there is an error with its number")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(make_profile({group_and_member(1)}, 8)),
        "process 8 has left no trace here", std::runtime_error);
}

TEST_CASE("a process has taken no lock where its record has no gaps")
{
    traced_process made;
    made.thread_count = 1;
    CHECK(make_profile({made}).processes.at(0).took_no_lock());
    made.slots_lost = 1;
    CHECK_FALSE(make_profile({made}).processes.at(0).took_no_lock());
}

TEST_CASE("what found no room before the window is no part of it")
{
    traced_process whole;
    whole.slots_lost = 5;
    whole.threads.emplace_back();
    whole.threads[0].sites_lost = 7;
    whole.threads[0].waits_for_lost = 9;
    traced_process before = whole;
    before.slots_lost = 4;
    before.threads[0].sites_lost = 5;
    before.threads[0].waits_for_lost = 6;
    subtract(whole, before);
    profile const found = make_profile({whole});
    CHECK(found.processes.at(0).lost == 3);
    CHECK(found.waits_for_lost == 3);
}

TEST_CASE("the parts of the time off the CPU are no more than that time")
{
    profile busy; // Threads that are woken up wait for a core in their recorded waits.
    busy.thread_ns = 100'000'000;
    busy.cpu_ns = 10'000'000;
    busy.no_core_ns = 60'000'000;
    lock& condition = busy.locks.emplace_back();
    condition.kind = trace_condition;
    condition.wait_ns = 80'000'000;
    double sum = 0;
    for (auto const& [kind, ns] : off_cpu_kinds(busy))
        sum += ns;
    CHECK(sum == doctest::Approx(90e6));
    CHECK(busy.off_cpu_time().no_core_outside_ns() == 10'000'000);
    off_cpu_place& joins = busy.off_cpu.emplace_back(); // A wait that was seen is none for a core.
    joins.call = "futex";
    joins.ns = 4'000'000;
    CHECK(busy.off_cpu_time().unrecorded_ns() == 4'000'000);
    CHECK(busy.off_cpu_time().no_core_outside_ns() == 6'000'000);
}

TEST_CASE("shares of nothing are nothing")
{
    profile const empty;
    CHECK(empty.blocked_percent({.blocked_ns = 5}) == 0);
    CHECK(empty.lock_cpu_percent({.cpu_locks = 5}) == 0);
}

} // namespace cleat::locks::profile_test
