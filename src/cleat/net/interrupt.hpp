// interrupt: what ends a connection's waits before their time: its deadline, or the end of its
// worker.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/readiness.hpp>

#include <chrono>
#include <utility>

namespace cleat::net {

class worker;

/// interrupt belongs to one connection, whose waits it can end. There is one wait at a time:
/// whoever begins one enters its waiter with `guard`. After it was raised every wait ends at once
/// with the reason, until a new deadline is set; a worker's end cannot be taken back.
class interrupt : private deadline
{
public:
    /// An interrupt of a connection on this worker, which raises error::stopped when it ends.
    explicit interrupt(worker& on) noexcept;
    interrupt(interrupt&&) = delete;
    ~interrupt();

    /// expires_in raises `why` after `in`, unless it is called again or cleared. Zero: never.
    void expires_in(std::chrono::milliseconds in, error why);

    /// clear takes the deadline back, and a reason that is raised already, unless it is the end.
    void clear() noexcept;

    /// raise ends the wait that is on, and those to come, with `why`.
    void raise(error why) noexcept;

    /// raised is why waits end at once; no error while they do not.
    [[nodiscard]] error_code raised() const noexcept { return raised_; }

    /// guard enters the waiter of a wait that begins; null when it is over.
    void guard(waiter* w) noexcept { waiting_ = w; }

    [[nodiscard]] worker& on() const noexcept { return *on_; }

private:
    friend class worker;

    static void on_expired(deadline& d) noexcept;

    worker* on_;
    waiter* waiting_ = nullptr;
    interrupt* previous_ = nullptr; // All interrupts of the worker, so that its end reaches them.
    interrupt* next_ = nullptr;
    error_code raised_;
    error why_{};
};

} // namespace cleat::net
