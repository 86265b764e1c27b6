// interrupt: ends a connection's waits early: at its deadline, or when its worker stops.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/readiness.hpp>

#include <chrono>
#include <utility>

namespace cleat::net {

class worker;

/// interrupt belongs to one connection, whose waits it can end. The connection waits for one thing
/// at a time, and each wait registers its waiter with `guard`. Once the interrupt is raised, every
/// wait ends at once with the reason, until a new deadline is set. error::stopped is final.
class interrupt : private deadline
{
public:
    /// interrupt of a connection on the worker `owner`, which raises error::stopped when it stops.
    explicit interrupt(net::worker& owner) noexcept;
    interrupt(interrupt&&) = delete;
    ~interrupt();

    /// expires_in raises `reason` after `delay`, unless it is called again or cleared. Zero: never.
    void expires_in(std::chrono::milliseconds delay, error reason);

    /// clear disarms the deadline and forgets a raised reason, except error::stopped.
    void clear() noexcept;

    /// raise ends the present wait, and later ones, with `reason`.
    void raise(error reason) noexcept;

    /// raised is the reason with which waits end at once; no error while none is raised.
    [[nodiscard]] error_code raised() const noexcept
    {
        return raised_ == error{} ? error_code{} : error_code{raised_};
    }

    /// guard sets the waiter that is woken when the interrupt is raised; null: no wait is pending.
    void guard(waiter* w) noexcept { waiting_ = w; }

    /// worker is the connection's worker.
    [[nodiscard]] net::worker& worker() const noexcept { return *worker_; }

private:
    friend class net::worker;

    static void on_expired(deadline& d) noexcept;

    net::worker* worker_;
    waiter* waiting_ = nullptr;
    interrupt* previous_ = nullptr; // In the list of all interrupts of the worker.
    interrupt* next_ = nullptr;
    // Each connection has an interrupt, and an error_code would take 24 bytes.
    error raised_{}; // None of error's values: not raised.
    error reason_{}; // Of the deadline.
};

} // namespace cleat::net
