// fifo_deadlines: deadlines that all have the same duration, so the order of arming is the order of
// expiry.

#pragma once

#include <cleat/core/assert.hpp>

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleat {

/// deadline is one thing that must happen in time. It is a member, or a base, of what it belongs
/// to: arming it allocates nothing, and destroying it cancels it.
///
/// When it expires its function is called with the deadline itself. An owner that derives from
/// deadline finds itself with `static_cast<owner&>(d)`. The function may arm, cancel and destroy
/// any deadline, its own included.
///
/// A deadline is in one fifo_deadlines at most: arming it in another takes it out of the first, so
/// a connection needs only one for "handshake" and then "idle". It belongs to one thread.
class deadline
{
public:
    using clock = std::chrono::steady_clock;
    using function = void (*)(deadline&) noexcept;

    /// deadline that calls on_expired, unless fifo_deadlines::expire is given something else to
    /// call.
    explicit deadline(function on_expired = nullptr) noexcept : on_expired_{on_expired} {}
    deadline(deadline&&) = delete;
    ~deadline() { cancel(); }

    /// armed is true from fifo_deadlines::arm until it expires (just before the call) or is
    /// cancelled.
    [[nodiscard]] bool armed() const noexcept { return next_ != this; }

    /// expiry is the moment it was last armed for.
    [[nodiscard]] clock::time_point expiry() const noexcept { return expiry_; }

    /// cancel disarms it; a deadline that is not armed stays so.
    void cancel() noexcept
    {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        previous_ = next_ = this;
    }

private:
    friend class fifo_deadlines;

    // A deadline alone is a ring of one, so no operation has to ask about ends.
    deadline* previous_ = this;
    deadline* next_ = this;
    clock::time_point expiry_{};
    function on_expired_;
};

static_assert(sizeof(deadline) <= 32, "every connection pays for its deadlines");

/// fifo_deadlines is a queue of deadlines for one duration. Everything but expire is O(1).
/// One thread. It stays where it was made; deadlines still armed when it is destroyed are disarmed.
class fifo_deadlines
{
public:
    using clock = deadline::clock;

    /// fifo_deadlines whose deadlines expire `duration` (more than nothing) after they are armed.
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

    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }
    [[nodiscard]] bool empty() const noexcept { return !ring_.armed(); }

    /// arm makes d expire at now + duration, wherever it was armed before. A caller whose `now` is
    /// older than that of a call before gets the later of the two: the order holds.
    void arm(deadline& d, clock::time_point now) noexcept
    {
        d.cancel();
        // A duration of "never" must not wrap into the past.
        clock::time_point const far = clock::time_point::max();
        d.expiry_ = now > far - duration_ ? far : now + duration_;
        if (deadline const& last = *ring_.previous_; !empty() && d.expiry_ < last.expiry_)
            d.expiry_ = last.expiry_;
        link_last(ring_, d);
    }

    /// cancel disarms d.
    void cancel(deadline& d) noexcept { d.cancel(); }

    /// next is when expire has something to do; nothing when no deadline is armed.
    [[nodiscard]] std::optional<clock::time_point> next() const noexcept
    {
        if (empty())
            return std::nullopt;
        return ring_.next_->expiry_;
    }

    /// expire calls on_expired(deadline&) for each deadline that has expired by now, oldest first.
    /// What the calls arm waits for the next expire, so this always ends; what they cancel is not
    /// called.
    template <class F>
    void expire(clock::time_point now, F&& on_expired) noexcept
    {
        static_assert(
            std::is_nothrow_invocable_v<F&, deadline&>,
            "a throw would lose the deadlines behind it");
        // The expired move to a ring of their own: a call may then do anything to either ring.
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
    deadline ring_; // Never expires: the place where the ring begins and ends.
};

} // namespace cleat
