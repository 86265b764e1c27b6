// family_memory: which family of a server's addresses answers a worker.

#pragma once

#include <cleat/core/limits.hpp>

#include <chrono>

namespace cleat::app {

/// family_memory remembers for one server with addresses of both families which family to try
/// first. It belongs to its worker's thread. Connections first try the family of the server's first
/// address. Where the other family has answered instead, they try that one first for
/// limits::family_time. Then one connection tries the original order again.
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

    /// prefers_second is second_first for a connection that never makes the trial itself.
    [[nodiscard]] bool prefers_second() const noexcept { return second_answers_; }

    /// answered: an address has answered; is_second: it is of the second family. `second_first` is
    /// how the connection began: one that tried the second family first shows nothing about the
    /// first.
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
