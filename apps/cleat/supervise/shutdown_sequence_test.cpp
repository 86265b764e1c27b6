#include "supervise/shutdown_sequence.hpp"

#include <doctest/doctest.h>

namespace cleat::app::shutdown_sequence_test {
namespace {

using step = shutdown_sequence::step;
using std::chrono::seconds;

constexpr shutdown_sequence::clock::time_point start{seconds{1000}};
constexpr shutdown_sequence::clock::time_point never = shutdown_sequence::clock::time_point::max();

} // namespace

TEST_CASE("without a delay a drain begins at once, and ends with its time")
{
    shutdown_sequence sequence;
    CHECK(sequence.present() == step::serving);
    CHECK(sequence.deadline() == never);
    CHECK(sequence.advance(start, {seconds{0}, seconds{30}}) == step::draining);
    CHECK(sequence.deadline() == start + seconds{30});
    CHECK(sequence.advance(start + seconds{30}, {}) == step::ending);
    CHECK(sequence.deadline() == never);
    CHECK_FALSE(sequence.advance(start, {}));
}

TEST_CASE("with a delay it is announced first, and the drain has its time after that")
{
    shutdown_sequence sequence;
    shutdown_times const times{seconds{10}, seconds{30}};
    CHECK(sequence.advance(start, times) == step::announced);
    CHECK(sequence.deadline() == start + seconds{10});
    CHECK(sequence.advance(start + seconds{10}, times) == step::draining);
    CHECK(sequence.deadline() == start + seconds{40});
}

TEST_CASE("the end may come at every step, and once")
{
    for (int steps = 0; steps < 3; ++steps) {
        CAPTURE(steps);
        shutdown_sequence sequence;
        for (int i = 0; i < steps; ++i)
            sequence.advance(start, {seconds{1}, seconds{1}});
        CHECK(sequence.end() == step::ending);
        CHECK_FALSE(sequence.end());
        CHECK(sequence.present() == step::ending);
    }
}

} // namespace cleat::app::shutdown_sequence_test
