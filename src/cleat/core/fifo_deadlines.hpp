// fifo_deadlines: deadlines of the same duration, which expire in the order in which they were
// armed.

#pragma once

#include <cleat/core/assert.hpp>

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleat {

/// deadline calls a function when its time has passed. It is a member, or a base, of its owner:
/// arming it allocates nothing, and destroying it cancels it.
///
/// The function's argument is the deadline itself. An owner that derives from deadline gets itself
/// by `static_cast<owner&>(d)`. The function may arm, cancel and destroy any deadline, its own
/// included.
///
/// A deadline is in one fifo_deadlines at most: arming it in another takes it out of the first. So
/// one deadline is enough for a connection's handshake and then for its idle time. It belongs to
/// one thread.
class deadline
{
public:
    /// clock is monotonic: a change of the system's time moves no deadline.
    using clock = std::chrono::steady_clock;
    /// function is called on the thread that calls fifo_deadlines::expire.
    using function = void (*)(deadline&) noexcept;

    /// deadline that calls on_expired, unless fifo_deadlines::expire gets another function.
    explicit deadline(function on_expired = nullptr) noexcept : on_expired_{on_expired} {}
    deadline(deadline&&) = delete;
    ~deadline() { cancel(); }

    /// armed is true from fifo_deadlines::arm until it expires (just before the call) or is
    /// cancelled.
    [[nodiscard]] bool armed() const noexcept { return next_ != this; }

    /// expiry is the time for which it was last armed.
    [[nodiscard]] clock::time_point expiry() const noexcept { return expiry_; }

    /// cancel disarms it, if it is armed.
    void cancel() noexcept
    {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        previous_ = next_ = this;
    }

private:
    friend class fifo_deadlines;

    // A deadline that is not armed is a ring of one, so no operation needs a check for ends.
    deadline* previous_ = this;
    deadline* next_ = this;
    clock::time_point expiry_{};
    function on_expired_;
};

static_assert(sizeof(deadline) <= 32, "every connection pays for its deadlines");

/// fifo_deadlines is a queue of deadlines for one duration. Everything but expire is O(1).
/// One thread. It cannot be moved. Its destructor disarms the deadlines that are left.
class fifo_deadlines
{
public:
    /// clock is that of its deadlines.
    using clock = deadline::clock;

    /// fifo_deadlines whose deadlines expire `duration` (more than zero) after they are armed.
    explicit fifo_deadlines(std::chrono::nanoseconds duration) noexcept : duration_{duration}
    {
        CLEAT_ASSERT(duration > std::chrono::nanoseconds::zero());
    }
    fifo_deadlines(fifo_deadlines&&) = delete;
    ~fifo_deadlines()
    {
        while (ring_.armed())
            ring_.next_->cancel();
    }

    /// duration is the time from arm to expiry.
    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }
    /// empty: no deadline is armed.
    [[nodiscard]] bool empty() const noexcept { return !ring_.armed(); }

    /// arm makes d expire at now + duration, and disarms it first if it is armed, here or
    /// elsewhere. Where `now` is earlier than in a call before, d expires at the same time as the
    /// last deadline, so that the queue stays in order.
    void arm(deadline& d, clock::time_point now) noexcept
    {
        d.cancel();
        // The sum must not overflow for a duration that means "never".
        clock::time_point const far = clock::time_point::max();
        d.expiry_ = now > far - duration_ ? far : now + duration_;
        if (deadline const& last = *ring_.previous_; !empty() && d.expiry_ < last.expiry_)
            d.expiry_ = last.expiry_;
        link_last(ring_, d);
    }

    /// cancel disarms d.
    void cancel(deadline& d) noexcept { d.cancel(); }

    /// next is the earliest expiry; nothing when no deadline is armed.
    [[nodiscard]] std::optional<clock::time_point> next() const noexcept
    {
        if (empty())
            return std::nullopt;
        return ring_.next_->expiry_;
    }

    /// expire calls on_expired(deadline&) for each deadline that has expired by now, oldest first.
    /// Deadlines that the calls arm wait for the next expire, so this always ends. Deadlines that
    /// they cancel are not called.
    template <class F>
    void expire(clock::time_point now, F&& on_expired) noexcept
    {
        static_assert(
            std::is_nothrow_invocable_v<F&, deadline&>,
            "an exception would lose the deadlines after it");
        // Expired deadlines move to a ring of their own: a call may then change either ring.
        deadline expired;
        while (!empty() && ring_.next_->expiry_ <= now) {
            deadline& d = *ring_.next_;
            d.cancel();
            link_last(expired, d);
        }
        while (expired.armed()) {
            deadline& d = *expired.next_;
            d.cancel();
            on_expired(d);
        }
    }

    /// expire calls each expired deadline's own function.
    void expire(clock::time_point now) noexcept
    {
        expire(now, [](deadline& d) noexcept {
            if (d.on_expired_ != nullptr)
                d.on_expired_(d);
        });
    }

private:
    static void link_last(deadline& ring, deadline& d) noexcept
    {
        d.previous_ = std::exchange(ring.previous_, &d);
        d.next_ = &ring;
        d.previous_->next_ = &d;
    }

    std::chrono::nanoseconds duration_;
    deadline ring_; // The begin and end of the ring. It never expires.
};

} // namespace cleat
