#include "generate/histogram.hpp"

#include <cleat/core/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace cleat::bench {
namespace {

// The smallest power of two that distinguishes 2 * 10^digits values, halved: the number of buckets
// of each power of two beyond the first. Returns its log2.
int half_bits_for(int digits) noexcept
{
    std::uint64_t resolution = 2;
    for (int i = 0; i != digits; ++i)
        resolution *= 10;
    return static_cast<int>(std::bit_width(resolution - 1)) - 1;
}

// The rank of a percentile among so many values, from 1 on.
std::uint64_t rank_of(double p, std::uint64_t all) noexcept
{
    // 99.9 is not a double: the nearest one may be above it and ask for one value too many.
    double const below = std::nextafter(std::clamp(p, 0.0, 100.0), 0.0);
    auto const wanted =
        static_cast<std::uint64_t>(std::ceil(below * static_cast<double>(all) / 100));
    return std::clamp<std::uint64_t>(wanted, 1, all);
}

} // namespace

// Values below 2^(half_bits + 1) have a bucket each. Above, a value of k more bits drops its k
// lowest ones, and the rest lies in the upper half: 2^half_bits buckets for each k. The index is
// then k * 2^half_bits + the rest, without a gap.
histogram::histogram(std::uint64_t value_max, int digits)
    : value_max_{value_max}, digits_{digits}, half_bits_{half_bits_for(std::clamp(digits, 1, 5))}
{
    CLEAT_ASSERT(digits >= 1 && digits <= 5);
    CLEAT_ASSERT(value_max >= 2);
    counts_.resize(index_of(value_max) + 1);
}

std::size_t histogram::index_of(std::uint64_t value) const noexcept
{
    int const dropped = std::max(0, static_cast<int>(std::bit_width(value)) - half_bits_ - 1);
    return (static_cast<std::size_t>(dropped) << half_bits_) +
           static_cast<std::size_t>(value >> dropped);
}

std::uint64_t histogram::lowest_of(std::size_t index) const noexcept
{
    std::size_t const halves = index >> half_bits_;
    std::size_t const dropped = halves > 1 ? halves - 1 : 0;
    return std::uint64_t{index - (dropped << half_bits_)} << dropped;
}

std::uint64_t histogram::highest_of(std::size_t index) const noexcept
{
    std::size_t const halves = index >> half_bits_;
    std::size_t const dropped = halves > 1 ? halves - 1 : 0;
    return lowest_of(index) + ((std::uint64_t{1} << dropped) - 1);
}

histogram::bucket histogram::bucket_of(std::uint64_t value) const noexcept
{
    CLEAT_ASSERT(value <= value_max_);
    return bucket_at(index_of(value));
}

histogram::bucket histogram::bucket_at(std::size_t index) const noexcept
{
    CLEAT_ASSERT(index < counts_.size());
    return {
        .lowest = lowest_of(index),
        .highest = highest_of(index),
        .count = counts_[index],
        .index = index};
}

void histogram::record(std::uint64_t value, std::uint64_t times) noexcept
{
    if (times == 0)
        return;
    if (value > value_max_) {
        beyond_max_ += times;
        value = value_max_;
    }
    counts_[index_of(value)] += times;
    count_ += times;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);

    // 64 by 64 bits is 128: three 32-bit partial products where there may be an overflow.
    std::uint64_t const low32 = 0xffff'ffff;
    std::uint64_t const a = (value & low32) * (times & low32);
    std::uint64_t const b = (value >> 32) * (times & low32) + (a >> 32);
    std::uint64_t const c = (value & low32) * (times >> 32) + (b & low32);
    std::uint64_t const low = value * times;
    std::uint64_t const high = (value >> 32) * (times >> 32) + (b >> 32) + (c >> 32);
    sum_low_ += low;
    sum_high_ += high + (sum_low_ < low ? 1 : 0);
}

void histogram::merge(histogram const& other) noexcept
{
    CLEAT_ASSERT(value_max_ == other.value_max_ && digits_ == other.digits_);
    std::uint64_t const low = other.sum_low_;
    sum_low_ += low;
    sum_high_ += other.sum_high_ + (sum_low_ < low ? 1 : 0);
    for (std::size_t i = 0; i != counts_.size(); ++i)
        counts_[i] += other.counts_[i];
    count_ += other.count_;
    beyond_max_ += other.beyond_max_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void histogram::clear() noexcept
{
    std::fill(counts_.begin(), counts_.end(), 0);
    count_ = beyond_max_ = max_ = sum_low_ = sum_high_ = 0;
    min_ = UINT64_MAX;
}

double histogram::mean() const noexcept
{
    if (count_ == 0)
        return 0;
    double const sum =
        std::ldexp(static_cast<double>(sum_high_), 64) + static_cast<double>(sum_low_);
    return sum / static_cast<double>(count_);
}

double histogram::standard_deviation() const noexcept
{
    if (count_ == 0)
        return 0;
    double const centre = mean();
    double squares = 0;
    for_each_bucket([&](bucket const& b) {
        double const middle =
            static_cast<double>(b.lowest) + static_cast<double>(b.highest - b.lowest) / 2 - centre;
        squares += middle * middle * static_cast<double>(b.count);
    });
    return std::sqrt(squares / static_cast<double>(count_));
}

std::uint64_t histogram::percentile(double p) const noexcept
{
    return count_ == 0 ? 0 : value_of_rank(rank_of(p, count_));
}

std::optional<std::uint64_t> histogram::percentile_of(double p, std::uint64_t all) const noexcept
{
    CLEAT_ASSERT(all >= count_);
    if (all == 0)
        return std::nullopt;
    std::uint64_t const rank = rank_of(p, all);
    return rank <= count_ ? std::optional{value_of_rank(rank)} : std::nullopt;
}

std::uint64_t histogram::value_of_rank(std::uint64_t rank) const noexcept
{
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i != counts_.size(); ++i) {
        seen += counts_[i];
        if (seen >= rank)
            return std::min(highest_of(i), max_);
    }
    return max_;
}

std::string histogram::percentile_distribution(double unit, int ticks) const
{
    CLEAT_ASSERT(unit > 0 && ticks > 0);
    std::string text = fmt::format(
        "{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    auto const out = std::back_inserter(text);
    auto const scaled = [&](std::uint64_t value) { return static_cast<double>(value) / unit; };

    // Levels come closer as they near 100: `ticks` of them each time the distance to 100 has
    // halved.
    double level = 0;
    std::uint64_t seen = 0;
    for_each_bucket([&](bucket const& b) {
        seen += b.count;
        double const reached = 100.0 * static_cast<double>(seen) / static_cast<double>(count_);
        bool const last = seen == count_;
        while (level <= reached && level < 100) {
            fmt::format_to(
                out, "{:12.{}f} {:2.12f} {:10d} {:14.2f}\n", scaled(std::min(b.highest, max_)),
                digits_, level / 100, seen, 1 / (1 - level / 100));
            int const halvings = static_cast<int>(std::log2(100 / (100 - level))) + 1;
            level += 100 / (ticks * std::ldexp(1.0, halvings));
            if (last)
                break; // The line for 100 % follows.
        }
    });
    if (count_ != 0)
        fmt::format_to(out, "{:12.{}f} {:2.12f} {:10d}\n", scaled(max_), digits_, 1.0, count_);

    int const buckets = static_cast<int>(std::bit_width(value_max_)) - half_bits_;
    fmt::format_to(
        out,
        "#[Mean    = {0:12.{6}f}, StdDeviation   = {1:12.{6}f}]\n"
        "#[Max     = {2:12.{6}f}, Total count    = {3:12d}]\n"
        "#[Buckets = {4:12d}, SubBuckets     = {5:12d}]\n",
        mean() / unit, standard_deviation() / unit, scaled(max_), count_, std::max(buckets, 1),
        std::uint64_t{2} << half_bits_, digits_);
    return text;
}

} // namespace cleat::bench
