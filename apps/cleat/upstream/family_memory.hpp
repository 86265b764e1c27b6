// family_memory: which family of a server's addresses answers a worker.

#pragma once

#include <cleat/core/limits.hpp>

#include <chrono>

namespace cleat::app {

/// family_memory is of one server with addresses of both families, and belongs to its worker's
/// thread. Connections try the family of the server's first address first. Where the other one has
/// answered instead, they try that one first for limits::family_time. Then one connection tries the
/// first order again.
class family_memory
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// second_first: a connection that begins now tries the other family first.
    [[nodiscard]] bool second_first(time_point now) noexcept
    {
        if (!second_answers_ || now < until_)
            return second_answers_;
        until_ = now + limits::family_trial;
        return false;
    }

    /// prefers_second is the same for a connection that leaves the trial to another one.
    [[nodiscard]] bool prefers_second() const noexcept { return second_answers_; }

    /// answered: an address has, which is of the second family or not. `second_first` is how the
    /// connection began: it has learned nothing of the first family if it tried the second one
    /// before.
    void answered(time_point now, bool is_second, bool second_first) noexcept
    {
        if (is_second && second_first)
            return;
        second_answers_ = is_second;
        until_ = now + limits::family_time;
    }

private:
    bool second_answers_ = false;
    time_point until_{};
};

} // namespace cleat::app
