// duration_counts: a histogram of times that one worker measures and that any thread may read.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// connection_bounds are the upper bounds of a connection's times, in rising order: from a
/// handshake on one machine to a connection that lasts for hours.
inline constexpr std::array<std::chrono::nanoseconds, 17> connection_bounds{
    std::chrono::microseconds{500},
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

/// session_bounds are those of the ages of sessions, which live for seven days at most.
inline constexpr std::array<std::chrono::nanoseconds, 7> session_bounds{
    std::chrono::seconds{10}, std::chrono::minutes{1}, std::chrono::minutes{10},
    std::chrono::hours{1},    std::chrono::hours{6},   std::chrono::days{1},
    std::chrono::days{7}};

/// time_counts has a bucket for each bound, and one above the last. A time belongs to the first
/// bucket whose bound it does not exceed. The worker that owns it is the only writer; any thread
/// may read, and may see a time in the buckets and not yet in the sum.
template <auto const& Bounds>
class alignas(64) time_counts
{
public:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr auto const& bounds = Bounds;
    static constexpr std::size_t bucket_count = Bounds.size() + 1;

    time_counts() noexcept = default;
    time_counts(time_counts&&) = delete;
    ~time_counts() = default;

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

using duration_counts = time_counts<connection_bounds>;
using age_counts = time_counts<session_bounds>;

} // namespace cleat::app
