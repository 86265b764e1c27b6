#include "report/holds.hpp"

#include <doctest/doctest.h>

namespace cleat::locks::holds_test {

TEST_CASE("holds that somebody waited for are all there, and others are a sample")
{
    // 10 holds of 200 ms among 29,000: the sample of one in 16 has none of them.
    lock_use use;
    use.acquisitions = 29'000;
    use.sample = {.count = 1812, .ns = 1812 * 2000};
    use.squares = 1812 * 2000.0 * 2000.0;
    use.sampled = 1812;
    CHECK(use.mean_hold_ns() == doctest::Approx(2000));
    use.waited = {.count = 10, .ns = 10 * 200'000'000ULL};
    hold_estimate const held = use.mean_hold();
    CHECK(held.mean_ns == doctest::Approx((2e9 + 28'990 * 2000.0) / 29'000));
    CHECK(held.has_interval);
    CHECK(held.high_ns - held.low_ns < 10); // All others were equally long.
    CHECK(29'000 / (use.held_ns() / 1e9) == doctest::Approx(14'091).epsilon(0.001));

    // Those in which the thread lost its core are not in the mean.
    use.waited.interrupted = 9;
    use.waited.interrupted_ns = 9 * 200'000'000ULL;
    CHECK(use.mean_hold_ns() == doctest::Approx((0.2e9 + 28'990 * 2000.0) / 28'991));
    CHECK(use.held_with_interrupted_ns() == doctest::Approx(2e9 + 28'990 * 2000.0));
}

TEST_CASE("an acquisition of a lock that the thread has is no hold")
{
    lock_use use;
    use.acquisitions = 4000;
    use.sampled = 25;
    use.inner = 75;
    use.sample = {.count = 25, .ns = 25 * 8000};
    CHECK(use.holds() == doctest::Approx(1000));
    CHECK(use.held_ns() == doctest::Approx(8e6));
}

TEST_CASE("few holds say little about the mean")
{
    lock_use use;
    use.acquisitions = 1000;
    use.sample = {.count = 1, .ns = 5000};
    CHECK_FALSE(use.mean_hold().has_interval);
    CHECK(
        interval_text(use) ==
        "held is the mean of 1 of its 1000 holds: too few to say how exact it is");
    use.sample = {.count = 3, .ns = 9000};
    use.squares = 1e6 + 4e6 + 36e6; // 1, 2 and 6 us.
    CHECK(use.mean_hold().low_ns == 0);
    CHECK(use.mean_hold().high_ns == doctest::Approx(9563).epsilon(0.01));
    CHECK(interval_text(use).starts_with("held is between 0 and 9.5"));
}

} // namespace cleat::locks::holds_test
