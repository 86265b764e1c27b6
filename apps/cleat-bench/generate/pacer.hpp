// pacer: when each connection of an open loop is meant to begin. Plain arithmetic: no clock and no
// waiting.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace cleat::bench {

/// phase is a stretch of time in which the rate goes in a straight line from one value to another:
/// a step where they are equal, else a ramp.
struct phase
{
    std::chrono::nanoseconds length{};
    double rate_begin = 0; ///< Arrivals per second.
    double rate_end = 0;
};

enum class arrivals : std::uint8_t
{
    constant, ///< Equally spaced at the phase's rate.
    poisson,  ///< Independent of each other, as many users are: exponential gaps.
};

/// share is the part of the arrivals that one of several generators makes. All shares together are
/// the whole: constant arrivals are dealt in turn.
struct share
{
    std::size_t number = 0;
    std::size_t count = 1; ///< Of all shares.
};

/// pacer gives the intended start of one arrival after the other, as time since the beginning.
///
/// It counts in expected arrivals: the integral of the rate grows by 1 from one constant arrival to
/// the next, and by an exponential variate of mean 1 between two of a Poisson process (the
/// inversion method; Lewis and Shedler 1979). So a ramp needs no special case, and no rounding adds
/// up: the n-th arrival is computed from n.
class pacer
{
public:
    /// Phases follow each other; rates are not negative. `seed` makes Poisson arrivals repeatable.
    pacer(std::vector<phase> phases, arrivals spacing, share part = {}, std::uint64_t seed = 1);

    /// next is the intended start of the next arrival; nothing when the phases are over.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> next();

    /// length is how long all phases take.
    [[nodiscard]] std::chrono::nanoseconds length() const noexcept;

    /// expected is the mean number of arrivals of all shares together; expected_until counts those
    /// before a time.
    [[nodiscard]] double expected() const noexcept;
    [[nodiscard]] double expected_until(std::chrono::nanoseconds since_begin) const noexcept;

    /// time_of is when so many arrivals of all shares are expected; length() where they never are.
    [[nodiscard]] std::chrono::nanoseconds time_of(double arrivals) const noexcept;

private:
    struct stretch
    {
        double begin;    // Seconds since the beginning.
        double length;   // Seconds.
        double rate;     // At its begin.
        double slope;    // Change of the rate for each second.
        double expected; // Arrivals expected before it.
        double arrivals; // Arrivals expected in it.

        [[nodiscard]] std::chrono::nanoseconds time_of(double arrivals_wanted) const noexcept;
    };

    [[nodiscard]] double next_expected();

    std::vector<stretch> stretches_;
    std::size_t current_ = 0; // Of the stretches.
    arrivals spacing_;
    share part_;
    std::uint64_t made_ = 0;
    double reached_ = 0; // In expected arrivals of all shares (constant) or of this one (Poisson).
    std::mt19937_64 random_;
};

} // namespace cleat::bench
