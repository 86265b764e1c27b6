// ejection: whether a server is left out because connects to it have failed.

#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace cleat::app {

/// ejection_rule is the rule of an upstream.
struct ejection_rule
{
    unsigned failures = 3; ///< In a row. 0: a server is never left out.
    std::chrono::milliseconds time{10'000};
};

/// ejection is the state of one server, as one worker has seen it. After some failures in a row the
/// server is left out for the rule's time. Then one connection tries it: success brings it back,
/// failure leaves it out for twice the time, at most for eight times the rule's.
///
/// It belongs to its worker's thread.
class ejection
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// serves: connections may go to the server, also the one that tries it.
    [[nodiscard]] bool serves(time_point now) const noexcept
    {
        return !is_out_ || (!is_tried_ && now >= until_);
    }
    [[nodiscard]] bool is_out() const noexcept { return is_out_; }

    /// began: a connection goes to the server. True: it is the one that tries whether the server is
    /// back, and ended follows.
    [[nodiscard]] bool began() noexcept { return is_out_ && !std::exchange(is_tried_, true); }

    /// ended: the connection that tried the server has ended, one way or another.
    void ended() noexcept { is_tried_ = false; }

    /// succeeded is true if the server was left out until now.
    bool succeeded() noexcept
    {
        failures_ = 0;
        return std::exchange(is_out_, false);
    }

    /// failed is true if the server was not left out until now. Failures of connections that began
    /// before the server was left out say nothing new.
    bool failed(time_point now, ejection_rule const& rule, bool tries) noexcept
    {
        if (is_out_ && !tries)
            return false;
        ++failures_;
        if (rule.failures == 0 || failures_ < rule.failures)
            return false;
        length_ = is_out_ ? std::min(length_ * 2, rule.time * 8) : rule.time;
        until_ = now + length_;
        return !std::exchange(is_out_, true);
    }

    /// forget: a check has found since that the server serves.
    void forget() noexcept
    {
        failures_ = 0;
        is_out_ = false;
    }

    [[nodiscard]] unsigned failures() const noexcept { return failures_; }

private:
    unsigned failures_ = 0; // In a row.
    bool is_out_ = false;
    bool is_tried_ = false; // It is out, and one connection tries it.
    time_point until_{};
    std::chrono::milliseconds length_{};
};

} // namespace cleat::app
