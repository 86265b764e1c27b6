// alarm: wakes a worker at a moment that is known to the nanosecond.

#pragma once

#include <cleat/net/readiness.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <chrono>

namespace cleat::bench {

using moment = std::chrono::steady_clock::time_point;

/// alarm has the resolution of the kernel's timer; the deadlines of a net::worker are in
/// milliseconds.
class alarm
{
public:
    /// Throws std::system_error when the kernel has no timer left.
    explicit alarm(net::worker& worker);

    /// set replaces the moment that was set before.
    void set(moment due) noexcept;

    /// interest is what to wait for: it is ready when the moment has come.
    [[nodiscard]] net::interest interest() const noexcept { return {entry_.get(), true, false}; }

private:
    // Edge-triggered: each setting of the timer is a new edge, so the timer's count is never read.
    net::entry_ptr entry_;
};

} // namespace cleat::bench
