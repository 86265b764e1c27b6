// clock_samples: how far the clock of a host is ahead of this machine's.

#pragma once

#include <chrono>

namespace cleat::bench {

/// clock_samples keeps the question that was answered the soonest: the host's clock was read at
/// some time between the question and the answer, so that the offset is known to half of that time
/// (as NTP does, RFC 5905, section 8).
class clock_samples
{
public:
    using time_point = std::chrono::system_clock::time_point;

    /// add takes one answer: when this machine asked, the host's time, when the answer came.
    void add(time_point asked, time_point host, time_point answered) noexcept
    {
        std::chrono::nanoseconds const round_trip = answered - asked;
        if (round_trip.count() < 0 || round_trip >= round_trip_)
            return;
        round_trip_ = round_trip;
        offset_ = host - asked - round_trip / 2;
    }

    /// offset is the host's time less this machine's.
    [[nodiscard]] std::chrono::nanoseconds offset() const noexcept { return offset_; }

    /// error is the most by which the offset may be wrong.
    [[nodiscard]] std::chrono::nanoseconds error() const noexcept { return round_trip_ / 2; }

    [[nodiscard]] std::chrono::nanoseconds round_trip() const noexcept { return round_trip_; }

private:
    std::chrono::nanoseconds round_trip_ = std::chrono::nanoseconds::max();
    std::chrono::nanoseconds offset_{};
};

} // namespace cleat::bench
