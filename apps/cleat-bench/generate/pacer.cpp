#include "generate/pacer.hpp"
#include "text/times.hpp"

#include <cleat/core/assert.hpp>

#include <cmath>

namespace cleat::bench {
pacer::pacer(std::vector<phase> phases, arrivals how, share mine, std::uint64_t seed)
    : how_{how}, mine_{mine}, random_{seed * 0x9e3779b97f4a7c15 + mine.number}
{
    CLEAT_ASSERT(mine.of > 0 && mine.number < mine.of);
    double begin = 0;
    double expected = 0;
    for (phase const& each : phases) {
        double const length = in_seconds(each.length);
        if (length <= 0)
            continue;
        double const here = (each.rate_begin + each.rate_end) / 2 * length;
        stretches_.push_back(
            {begin, length, each.rate_begin, (each.rate_end - each.rate_begin) / length, expected,
             here});
        begin += length;
        expected += here;
    }
}

// How far to go on, in expected arrivals. Constant arrivals begin half a gap in, so that a second
// at rate r has r of them whatever the offset of rounding; dealt in turn to the shares.
double pacer::step()
{
    if (how_ == arrivals::constant)
        return static_cast<double>(made_++ * mine_.of + mine_.number) + 0.5;
    std::exponential_distribution<double> gap{1.0};
    return reached_ + gap(random_) * static_cast<double>(mine_.of);
}

std::optional<std::chrono::nanoseconds> pacer::next()
{
    if (at_ == stretches_.size())
        return std::nullopt;
    reached_ = step();
    while (reached_ >= stretches_[at_].expected + stretches_[at_].arrivals)
        if (++at_ == stretches_.size())
            return std::nullopt;
    return stretches_[at_].time_of(reached_);
}

std::chrono::nanoseconds pacer::stretch::time_of(double reached) const noexcept
{
    // rate * t + slope / 2 * t^2 = wanted, in the form that is stable for a slope near 0.
    double const wanted = reached - expected;
    double const root = std::sqrt(std::fmax(rate * rate + 2 * slope * wanted, 0));
    double const t = wanted > 0 ? 2 * wanted / (rate + root) : 0;
    return std::chrono::nanoseconds{std::llround((begin + std::fmin(t, length)) * 1e9)};
}

std::chrono::nanoseconds pacer::time_of(double arrivals) const noexcept
{
    for (stretch const& each : stretches_)
        if (arrivals <= each.expected + each.arrivals)
            return each.time_of(arrivals);
    return length();
}

std::chrono::nanoseconds pacer::length() const noexcept
{
    if (stretches_.empty())
        return {};
    stretch const& last = stretches_.back();
    return std::chrono::nanoseconds{std::llround((last.begin + last.length) * 1e9)};
}

double pacer::expected() const noexcept
{
    return stretches_.empty() ? 0 : stretches_.back().expected + stretches_.back().arrivals;
}

double pacer::expected_until(std::chrono::nanoseconds since_begin) const noexcept
{
    double const t = in_seconds(since_begin);
    double sum = 0;
    for (stretch const& each : stretches_) {
        double const in = std::fmin(t - each.begin, each.length);
        if (in > 0)
            sum += (each.rate + each.slope * in / 2) * in;
    }
    return sum;
}

double pacer::rate_at(std::chrono::nanoseconds since_begin) const noexcept
{
    double const t = in_seconds(since_begin);
    for (stretch const& each : stretches_)
        if (t < each.begin + each.length)
            return each.rate + each.slope * (t - each.begin);
    return 0;
}

} // namespace cleat::bench
