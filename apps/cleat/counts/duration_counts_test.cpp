#include "counts/duration_counts.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace cleat::app::duration_counts_test {

using namespace std::chrono_literals;

TEST_CASE("a time is counted in the first bucket that it fits into")
{
    auto const counts = std::make_unique<duration_counts>();
    counts->record(0ns);
    counts->record(500us); // A bound belongs to its bucket.
    counts->record(501us);
    counts->record(1h);
    counts->record(1h + 1ns);
    CHECK(counts->count(0) == 2);
    CHECK(counts->count(1) == 1);
    CHECK(counts->count(duration_counts::bounds.size() - 1) == 1);
    CHECK(counts->count(duration_counts::bounds.size()) == 1);
    CHECK(counts->sum() == 500us + 501us + 2h + 1ns);
}

TEST_CASE("the bounds rise")
{
    CHECK(std::ranges::is_sorted(duration_counts::bounds));
    CHECK(std::ranges::is_sorted(age_counts::bounds));
}

} // namespace cleat::app::duration_counts_test
