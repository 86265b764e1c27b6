// retry_pace: when a worker tries again to have connections ready for a server.

#pragma once

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>

namespace cleat::app {

/// retry_pace belongs to one server. After a failure it pauses for limits::preconnect_pause_min,
/// and after each further failure for twice as long, at most limits::preconnect_pause_max.
class retry_pace
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// failed is true for the first failure after a success.
    bool failed(time_point now) noexcept
    {
        bool const is_first = pause_.count() == 0;
        pause_ = is_first ? limits::preconnect_pause_min
                          : std::min(pause_ * 2, limits::preconnect_pause_max);
        until_ = now + pause_;
        return is_first;
    }

    /// succeeded is true for the first success after a failure.
    bool succeeded() noexcept
    {
        bool const is_first = is_failing();
        pause_ = {};
        return is_first;
    }

    [[nodiscard]] bool is_failing() const noexcept { return pause_.count() != 0; }
    [[nodiscard]] bool pauses(time_point now) const noexcept
    {
        return is_failing() && now < until_;
    }

    /// pause is how long the last failure makes it wait.
    [[nodiscard]] std::chrono::milliseconds pause() const noexcept { return pause_; }

private:
    std::chrono::milliseconds pause_{0}; // Zero: the last attempt has succeeded.
    time_point until_{};
};

} // namespace cleat::app
