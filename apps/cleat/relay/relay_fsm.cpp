#include "relay/relay_fsm.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

void relay_fsm::on_failure(side s, close_reason why) noexcept
{
    // A TLS upstream that has read a cut upload has no clean end to send.
    bool const is_consequence =
        reason_ == close_reason::client_truncated && why == close_reason::upstream_truncated;
    if (!(lingers() && why == close_reason::client_reset) && !is_consequence)
        reason_ = why;
    if (s == side::upstream)
        close_with(
            side::client, cuts_answer() ? closing::last_bytes_and_reset : closing::last_bytes);
    else
        close_with(side::upstream, delivers(direction::up) ? closing::reset : closing::last_bytes);
    over_ = true;
}

void relay_fsm::on_upload_lost() noexcept
{
    on_failure(side::client, close_reason::out_of_resources);
    close_with(side::client, closing::reset);
}

void relay_fsm::on_stop(close_reason why) noexcept
{
    reason_ = why;
    if (delivers(direction::up))
        close_with(side::upstream, closing::reset);
    // The kernel would keep the bytes of a client that has stalled.
    if (cuts_answer() || why == close_reason::stalled_evicted)
        close_with(side::client, closing::reset);
    over_ = true;
}

std::optional<std::chrono::milliseconds> relay_fsm::on_wait() noexcept
{
    timer const before = timer_;
    if (!awaits_client()) {
        timer_ = delivers_after_break() ? timer::after_break : timer::idle;
        return timer_ == timer::idle ? deadlines_.idle : deadlines_.after_break();
    }
    timer_ = fin_sent_ ? timer::linger : timer::fin_delay;
    if (timer_ == timer::linger)
        return deadlines_.linger; // A client that still sends has its time again.
    if (before == timer::fin_delay)
        return std::nullopt;
    return limits::fin_delay;
}

void relay_fsm::on_timeout(std::size_t unacknowledged) noexcept
{
    if (timer_ == timer::fin_delay) {
        fin_due_ = true;
        return;
    }
    if (timer_ == timer::linger) {
        to_client_.on_timeout(unacknowledged);
        if (to_client_.undelivered() && !client_stalls())
            return;
    }
    if (delivers_after_break())
        return give_up();
    bool const lingered = timer_ == timer::linger && !to_client_.undelivered();
    on_stop(reason_for(lingered ? phase::linger_wait : phase::relay_wait, error::idle_timeout));
}

// The client, which has no TLS, has not got the whole answer.
bool relay_fsm::cuts_answer() const noexcept
{
    return resets_cut_answers_ && delivers(direction::down);
}

// The client has taken nothing of the last bytes for the idle timeout.
bool relay_fsm::client_stalls() const noexcept
{
    return deadlines_.idle.count() != 0 &&
           deadlines_.linger * to_client_.stalled() >= deadlines_.idle;
}

// The receiver of a broken side's last bytes has not taken them in time: they are dropped.
void relay_fsm::give_up() noexcept
{
    if (is_broken(side::client))
        on_failure(side::client, close_reason::client_reset);
    else
        on_failure(side::upstream, close_reason::upstream_reset);
    close_with(side::client, closing::reset);
}

} // namespace cleat::app
