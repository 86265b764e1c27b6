// duration_counts: a histogram of times that one worker measures and that any thread may read.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// duration_counts has a bucket for each bound, and one above the last. A time belongs to the first
/// bucket whose bound it does not exceed. The worker that owns it is the only writer; any thread
/// may read, and may see a time in the buckets and not yet in the sum.
class alignas(64) duration_counts
{
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// bounds are the upper bounds of the buckets, in rising order: from a handshake on one machine
    /// to a connection that lasts for hours.
    static constexpr std::array<nanoseconds, 17> bounds{std::chrono::microseconds{500},
                                                        std::chrono::milliseconds{1},
                                                        std::chrono::microseconds{2'500},
                                                        std::chrono::milliseconds{5},
                                                        std::chrono::milliseconds{10},
                                                        std::chrono::milliseconds{25},
                                                        std::chrono::milliseconds{50},
                                                        std::chrono::milliseconds{100},
                                                        std::chrono::milliseconds{250},
                                                        std::chrono::milliseconds{500},
                                                        std::chrono::seconds{1},
                                                        std::chrono::milliseconds{2'500},
                                                        std::chrono::seconds{5},
                                                        std::chrono::seconds{10},
                                                        std::chrono::seconds{60},
                                                        std::chrono::minutes{10},
                                                        std::chrono::hours{1}};
    static constexpr std::size_t bucket_count = bounds.size() + 1;

    duration_counts() noexcept = default;
    duration_counts(duration_counts&&) = delete;
    ~duration_counts() = default;

    /// record counts a time. Owner only.
    void record(nanoseconds time) noexcept
    {
        auto const* const bound = std::ranges::lower_bound(bounds, time);
        add(counts_[static_cast<std::size_t>(bound - bounds.begin())], 1);
        add(sum_ns_, static_cast<std::uint64_t>(std::max(time, nanoseconds::zero()).count()));
    }

    /// count is how many times fell into a bucket. Any thread.
    [[nodiscard]] std::uint64_t count(std::size_t bucket) const noexcept
    {
        return counts_[bucket].load(std::memory_order_relaxed);
    }

    /// sum is that of all times. Any thread.
    [[nodiscard]] nanoseconds sum() const noexcept
    {
        return nanoseconds{sum_ns_.load(std::memory_order_relaxed)};
    }

private:
    static void add(std::atomic<std::uint64_t>& number, std::uint64_t n) noexcept
    {
        number.store(number.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    std::array<std::atomic<std::uint64_t>, bucket_count> counts_{};
    std::atomic<std::uint64_t> sum_ns_{0};
};

} // namespace cleat::app
