// The schedule of an open loop: exact where it is constant, right on average where it is random.

#include "generate/pacer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace cleat::bench::pacer_test {
namespace {

using namespace std::chrono_literals;

std::vector<std::chrono::nanoseconds> all(pacer schedule)
{
    std::vector<std::chrono::nanoseconds> found;
    while (auto const next = schedule.next())
        found.push_back(*next);
    return found;
}

TEST_CASE("a constant rate has equal gaps, and not one arrival too many or too few")
{
    auto const times = all({{{2s, 1000, 1000}}, arrivals::constant});
    REQUIRE(times.size() == 2000);
    CHECK(times.front() == 500us);
    for (std::size_t i = 1; i != times.size(); ++i)
        CHECK(std::chrono::abs(times[i] - times[i - 1] - 1ms) <= 1ns);
}

TEST_CASE("rounding errors do not add up over a long run")
{
    auto const times = all({{{1000s, 333.3, 333.3}}, arrivals::constant});
    CHECK(times.size() == 333'300);
    CHECK(std::abs(std::chrono::duration<double>(times.back()).count() - 333'299.5 / 333.3) < 1e-8);
}

TEST_CASE("shares are dealt in turn: together they are the whole")
{
    std::vector<phase> const phases{{1s, 100, 100}, {1s, 100, 700}};
    std::vector<std::chrono::nanoseconds> together;
    for (std::size_t i = 0; i != 3; ++i) {
        auto const one = all({phases, arrivals::constant, {i, 3}});
        together.insert(together.end(), one.begin(), one.end());
    }
    std::ranges::sort(together);
    CHECK(together == all({phases, arrivals::constant}));
}

TEST_CASE("a ramp has the arrivals of its mean rate, ever closer together")
{
    pacer ramp{{{10s, 0, 200}}, arrivals::constant};
    CHECK(ramp.expected() == doctest::Approx(1000));
    auto const times = all(ramp);
    REQUIRE(times.size() == 1000);
    // Half of the time has a quarter of the arrivals.
    auto const half = std::ranges::lower_bound(times, 5s) - times.begin();
    CHECK(std::abs(half - 250) <= 1);
    CHECK(std::ranges::is_sorted(times));
}

TEST_CASE("the arrivals expected until a time, and the time of a number of them")
{
    pacer const steps{{{1s, 100, 100}, {1s, 300, 300}, {2s, 0, 200}}, arrivals::constant};
    CHECK(steps.expected_until(0s) == 0);
    CHECK(steps.expected_until(500ms) == doctest::Approx(50));
    CHECK(steps.expected_until(2s) - steps.expected_until(1s) == doctest::Approx(300));
    CHECK(steps.expected_until(3s) == doctest::Approx(450));
    CHECK(steps.expected_until(9s) == doctest::Approx(steps.expected()));
    CHECK(steps.time_of(50) == 500ms);
    CHECK(steps.time_of(250) == 1500ms);
    CHECK(steps.time_of(450) == 3s);
    CHECK(steps.time_of(10'000) == 4s);
}

TEST_CASE("a ramp down to nothing ends")
{
    auto const times = all({{{10s, 200, 0}}, arrivals::constant});
    CHECK(times.size() == 1000);
    CHECK(times.back() < 10s);
}

TEST_CASE("steps follow each other, with silence where the rate is zero")
{
    auto const times = all({{{1s, 10, 10}, {1s, 0, 0}, {1s, 20, 20}}, arrivals::constant});
    REQUIRE(times.size() == 30);
    CHECK(times[9] < 1s);
    CHECK(times[10] >= 2s);
}

TEST_CASE("Poisson arrivals have the rate, and gaps whose deviation is their mean")
{
    for (std::size_t const shares : {1U, 4U}) {
        std::vector<std::chrono::nanoseconds> times;
        for (std::size_t i = 0; i != shares; ++i) {
            auto const one = all({{{100s, 1000, 1000}}, arrivals::poisson, {i, shares}, 7});
            times.insert(times.end(), one.begin(), one.end());
        }
        std::ranges::sort(times);
        // 100,000 arrivals with a deviation of 316: five of them would be one run in two million.
        CHECK(std::abs(static_cast<double>(times.size()) - 100'000) < 5 * 316);
        double sum = 0;
        double squares = 0;
        for (std::size_t i = 1; i != times.size(); ++i) {
            double const gap = std::chrono::duration<double>(times[i] - times[i - 1]).count();
            sum += gap;
            squares += gap * gap;
        }
        double const n = static_cast<double>(times.size() - 1);
        double const mean = sum / n;
        double const deviation = std::sqrt(squares / n - mean * mean);
        CHECK(deviation / mean == doctest::Approx(1).epsilon(0.02));
    }
}

TEST_CASE("the same seed gives the same arrivals, another seed others")
{
    std::vector<phase> const phases{{1s, 100, 100}};
    CHECK(all({phases, arrivals::poisson, {}, 1}) == all({phases, arrivals::poisson, {}, 1}));
    CHECK(all({phases, arrivals::poisson, {}, 1}) != all({phases, arrivals::poisson, {}, 2}));
}

TEST_CASE("no phases, no arrivals")
{
    CHECK(all({{}, arrivals::constant}).empty());
    CHECK(all({{{5s, 0, 0}}, arrivals::poisson}).empty());
}

} // namespace
} // namespace cleat::bench::pacer_test
