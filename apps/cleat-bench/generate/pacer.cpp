#include "generate/pacer.hpp"
#include "text/times.hpp"

#include <cleat/core/assert.hpp>

#include <cmath>

namespace cleat::bench {
pacer::pacer(std::vector<phase> phases, arrivals spacing, share part, std::uint64_t seed)
    : spacing_{spacing}, part_{part}, random_{seed * 0x9e3779b97f4a7c15 + part.number}
{
    CLEAT_ASSERT(part.count > 0 && part.number < part.count);
    double begin = 0;
    double expected = 0;
    for (phase const& each : phases) {
        double const length = in_seconds(each.length);
        if (length <= 0)
            continue;
        double const arrivals = (each.rate_begin + each.rate_end) / 2 * length;
        stretches_.push_back(
            {begin, length, each.rate_begin, (each.rate_end - each.rate_begin) / length, expected,
             arrivals});
        begin += length;
        expected += arrivals;
    }
}

// The place of the next arrival, in expected arrivals. Constant arrivals begin half a gap in, so
// that a second at rate r has r of them however times are rounded; the shares get them in turn.
double pacer::next_expected()
{
    if (spacing_ == arrivals::constant)
        return static_cast<double>(made_++ * part_.count + part_.number) + 0.5;
    std::exponential_distribution<double> gap{1.0};
    return reached_ + gap(random_) * static_cast<double>(part_.count);
}

std::optional<std::chrono::nanoseconds> pacer::next()
{
    if (current_ == stretches_.size())
        return std::nullopt;
    reached_ = next_expected();
    while (reached_ >= stretches_[current_].expected + stretches_[current_].arrivals)
        if (++current_ == stretches_.size())
            return std::nullopt;
    return stretches_[current_].time_of(reached_);
}

std::chrono::nanoseconds pacer::stretch::time_of(double arrivals_wanted) const noexcept
{
    // rate * t + slope / 2 * t^2 = wanted, in the form that is stable for a slope near 0.
    double const wanted = arrivals_wanted - expected;
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
        double const t_in = std::fmin(t - each.begin, each.length);
        if (t_in > 0)
            sum += (each.rate + each.slope * t_in / 2) * t_in;
    }
    return sum;
}

} // namespace cleat::bench
