// histogram: how often each value occurred, to a fixed number of significant digits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// histogram counts values from 0 to value_max in log-linear buckets, the same ones as
/// HdrHistogram's: every power of two is divided so finely that two values in one bucket agree in
/// `digits` significant digits. Recording costs a few instructions and never allocates; merging
/// loses nothing. One thread.
class histogram
{
public:
    /// histogram for values up to value_max (at least 2) with 1 to 5 significant digits. Its memory
    /// does not grow: nanoseconds up to one minute at 3 digits take 214 KiB.
    explicit histogram(std::uint64_t value_max, int digits = 3);

    /// record counts value `times` times. A value beyond value_max counts as value_max; beyond_max
    /// is how many there were, and a report must show it.
    void record(std::uint64_t value, std::uint64_t times = 1) noexcept;

    /// merge adds the counts of other. Both must have the same value_max and digits.
    void merge(histogram const& other) noexcept;

    /// clear forgets every value and keeps the memory.
    void clear() noexcept;

    /// percentile is the smallest value that at least p percent of the values do not exceed, as the
    /// highest value of its bucket, but never above max(). p is clamped to 0..100; 0 when empty.
    [[nodiscard]] std::uint64_t percentile(double p) const noexcept;

    /// percentile_of is the percentile of `all` values, of which count() are recorded here and the
    /// rest are larger. Unset: the rank is among the rest. `all` is at least count().
    [[nodiscard]] std::optional<std::uint64_t> percentile_of(
        double p, std::uint64_t all) const noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t beyond_max() const noexcept { return beyond_max_; }

    /// min, max and mean are exact, not rounded to buckets; 0 when empty.
    [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    [[nodiscard]] double mean() const noexcept;

    /// totals is the exact state beside the buckets. restore sets it in a copy that was read from a
    /// file.
    struct totals
    {
        std::uint64_t min = UINT64_MAX;
        std::uint64_t max = 0;
        std::uint64_t sum_low = 0; ///< The sum of all values, 128 bits wide.
        std::uint64_t sum_high = 0;
        std::uint64_t beyond_max = 0;
    };
    [[nodiscard]] totals exact() const noexcept
    {
        return {min_, max_, sum_low_, sum_high_, beyond_max_};
    }
    void restore(totals const& exact) noexcept
    {
        min_ = exact.min;
        max_ = exact.max;
        sum_low_ = exact.sum_low;
        sum_high_ = exact.sum_high;
        beyond_max_ = exact.beyond_max;
    }

    /// standard_deviation counts every value as the middle of its bucket.
    [[nodiscard]] double standard_deviation() const noexcept;

    /// percentile_distribution is text for HdrHistogram's plotters (.hgrm): value,
    /// percentile, count so far, 1/(1-percentile). Values are divided by unit: 1e6 turns
    /// nanoseconds into ms.
    [[nodiscard]] std::string percentile_distribution(double unit = 1.0, int ticks = 5) const;

    /// bucket is a range of values that are counted together, and their count.
    struct bucket
    {
        std::uint64_t lowest;
        std::uint64_t highest;
        std::uint64_t count;
        std::size_t index; ///< Its place in HdrHistogram's array of counts, and in ours.
    };

    /// for_each_bucket calls f(bucket) for every bucket that is not empty, in ascending order.
    template <class F>
    void for_each_bucket(F&& f) const
    {
        for (std::size_t i = 0; i != counts_.size(); ++i)
            if (counts_[i] != 0)
                f(bucket_at(i));
    }

    /// bucket_of is the bucket that value (at most value_max) is counted in.
    [[nodiscard]] bucket bucket_of(std::uint64_t value) const noexcept;

    /// bucket_at is the bucket with that index, below buckets(). It may be empty.
    [[nodiscard]] bucket bucket_at(std::size_t index) const noexcept;
    [[nodiscard]] std::size_t buckets() const noexcept { return counts_.size(); }

    [[nodiscard]] std::uint64_t value_max() const noexcept { return value_max_; }
    [[nodiscard]] int digits() const noexcept { return digits_; }

private:
    [[nodiscard]] std::uint64_t value_of_rank(std::uint64_t rank) const noexcept;
    [[nodiscard]] std::size_t index_of(std::uint64_t value) const noexcept;
    [[nodiscard]] std::uint64_t lowest_of(std::size_t index) const noexcept;
    [[nodiscard]] std::uint64_t highest_of(std::size_t index) const noexcept;

    std::uint64_t value_max_;
    int digits_;
    int half_bits_; // log2 of the buckets in the upper half of a power of two
    std::vector<std::uint64_t> counts_;

    std::uint64_t count_ = 0;
    std::uint64_t beyond_max_ = 0;
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
    // The exact sum, 128 bits wide.
    std::uint64_t sum_low_ = 0;
    std::uint64_t sum_high_ = 0;
};

} // namespace cleat::bench
