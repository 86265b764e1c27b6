// Ratios within rounds, their spread, and when a difference counts as shown.

#include "compare/statistics.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

namespace cleat::bench::statistics_test {
namespace {

using figures = std::vector<std::optional<double>>;

TEST_CASE("the median is the middle, or the mean of the middle two")
{
    CHECK(median({3}) == 3);
    CHECK(median({9, 1, 5}) == 5);
    CHECK(median({9, 1, 5, 7}) == 6);
}

TEST_CASE("a ratio is taken within a round: a machine that drifts does not change it")
{
    // Everything takes twice as long from round to round, and half as long as the base.
    auto const found = ratio_of(figures{50, 100, 200}, figures{100, 200, 400});
    REQUIRE(found);
    CHECK(found->median == 0.5);
    CHECK(found->min == 0.5);
    CHECK(found->max == 0.5);
    CHECK(found->verdict() == finding::less);
    CHECK(in_words(*found) == "0.50 (0.50..0.50)");
}

TEST_CASE("a spread that includes 1 shows no difference, wherever the median is")
{
    auto const found = ratio_of(figures{99, 150, 160}, figures{100, 100, 100});
    REQUIRE(found);
    CHECK(found->median == 1.5);
    CHECK(found->verdict() == finding::no_difference);
    CHECK(in_words(*found) == "1.50 (0.99..1.60) no difference shown");
    CHECK(ratio_of(figures{100, 101}, figures{100, 100})->verdict() == finding::no_difference);
    CHECK(ratio_of(figures{102, 101, 103}, figures{100, 100, 100})->verdict() == finding::more);
    // Two rounds are on one side by chance as often as not.
    CHECK(ratio_of(figures{102, 101}, figures{100, 100})->verdict() == finding::too_few);
}

TEST_CASE("one round has no spread, so it shows nothing")
{
    auto const found = ratio_of(figures{300}, figures{100});
    REQUIRE(found);
    CHECK(found->verdict() == finding::one_round);
    CHECK(in_words(*found) == "3.00 (one round)");
}

TEST_CASE("a round in which one of the two has no figure does not count")
{
    auto const found = ratio_of(figures{std::nullopt, 20, 30}, figures{1, std::nullopt, 10});
    REQUIRE(found);
    CHECK(found->rounds == 1);
    CHECK(found->median == 3);
    CHECK_FALSE(ratio_of(figures{std::nullopt}, figures{1}));
    CHECK_FALSE(ratio_of(figures{}, figures{1}));
    CHECK_FALSE(ratio_of(figures{1}, figures{0}));
}

TEST_CASE("memory for each connection is the slope: the server's own memory does not count")
{
    std::vector<std::pair<double, double>> const points{
        {0, 5000}, {1000, 9000}, {2000, 13'000}, {4000, 21'000}};
    CHECK(slope(points) == doctest::Approx(4));
}

} // namespace
} // namespace cleat::bench::statistics_test
