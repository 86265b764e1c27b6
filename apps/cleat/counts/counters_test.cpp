#include "counts/counters.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

namespace cleat::app::counters_test {
namespace {

enum class event
{
    accepted,
    open,
    closed
};
using worker_counters = counters<event, 3>;

// The tests below use the heap, because AddressSanitizer's fake stack frames
// (detect_stack_use_after_return) are not aligned for cache lines.

} // namespace

TEST_CASE("each worker counts by itself, and a reader adds up their counters")
{
    std::vector<worker_counters> workers(2);
    workers[0].add(event::accepted);
    workers[0].add(event::accepted, 41);
    workers[1].add(event::accepted);
    CHECK(workers[0].value(event::accepted) == 42);
    CHECK(total(workers, event::accepted) == 43);
    CHECK(total(workers, event::closed) == 0);

    std::vector<worker_counters const*> const pointers{&workers[0], &workers[1]};
    CHECK(total(pointers, event::accepted) == 43);
}

TEST_CASE("a number may go up on one worker and down on another")
{
    std::vector<worker_counters> workers(2);
    workers[0].add(event::open, 3);
    workers[1].subtract(event::open, 1);
    CHECK(total(workers, event::open) == 2);
}

TEST_CASE("no two workers share a cache line")
{
    static_assert(alignof(worker_counters) == 64);
    static_assert(sizeof(worker_counters) % 64 == 0);
    auto const on_the_heap = std::make_unique<worker_counters>();
    CHECK(reinterpret_cast<std::uintptr_t>(on_the_heap.get()) % 64 == 0);
}

TEST_CASE("a reader on another thread never sees a count go back")
{
    auto const on_the_heap = std::make_unique<worker_counters>();
    worker_counters& mine = *on_the_heap;
    std::thread owner{[&] {
        for (int i = 0; i != 100'000; ++i)
            mine.add(event::accepted);
    }};
    std::uint64_t before = 0;
    bool backwards = false;
    while (before != 100'000) {
        std::uint64_t const now = mine.value(event::accepted);
        backwards = backwards || now < before;
        before = now;
    }
    owner.join();
    CHECK_FALSE(backwards);
}

} // namespace cleat::app::counters_test
