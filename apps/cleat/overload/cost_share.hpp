// cost_share: which of two handshakes comes next, the one with the cheap signature or the other.

#pragma once

#include "overload/signature_cost.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>

namespace cleat::app {

/// cost_share is a machine without I/O. While handshakes of both costs wait, the cheap ones go
/// first, but for the share of the others: one part of the time in limits::line_share. So a flood
/// of cheap ones cannot hold the others back for ever, and a flood of the others delays a cheap one
/// by one of them at most.
///
/// The time of each cheap one that goes first is owed to the others, at one part for each
/// line_share - 1. Once that is as much as the last dear one took, the next of these has its turn.
class cost_share
{
public:
    using duration = std::chrono::nanoseconds;

    /// next is the cost of the handshake that comes next, where one of each cost waits.
    [[nodiscard]] signature_cost next() const noexcept
    {
        bool const is_due = owed_ > duration::zero() && owed_ >= last_high_;
        return is_due ? signature_cost::high : signature_cost::low;
    }

    /// served: a handshake has taken so long. `other_waits`: at its beginning one of the other cost
    /// waited.
    void served(signature_cost cost, duration time, bool other_waits) noexcept
    {
        time = std::clamp<duration>(time, duration::zero(), limits::line_cost_max);
        if (cost == signature_cost::high)
            last_high_ = time;
        if (!other_waits)
            owed_ = duration::zero();
        else if (cost == signature_cost::low)
            owed_ += time / (limits::line_share - 1);
        else
            owed_ -= time;
    }

    /// owed is the time that is due to handshakes with a dear signature. Negative: these have had
    /// more than their share.
    [[nodiscard]] duration owed() const noexcept { return owed_; }

private:
    duration owed_{};
    duration last_high_ = limits::line_cost_max; // Until one was served.
};

} // namespace cleat::app
