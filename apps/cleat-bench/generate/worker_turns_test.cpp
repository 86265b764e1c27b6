#include "generate/worker_turns.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace cleat::bench::worker_turns_test {

using namespace std::chrono_literals;

TEST_CASE("a connection looks again after a power of two, and not beyond the moment it waits for")
{
    CHECK(next_look(1000ms) == 512ms);
    CHECK(next_look(512ms) == 512ms);
    CHECK(next_look(511ms) == 256ms);
    CHECK(next_look(4ms - 1ns) == 2ms); // Rounded up, this would be a wait beyond the moment.
}

TEST_CASE("a connection waits at least a millisecond, also for a moment that is over")
{
    CHECK(next_look(1ns) == 1ms);
    CHECK(next_look(0ms) == 1ms);
    CHECK(next_look(-5s) == 1ms);
}

} // namespace cleat::bench::worker_turns_test
