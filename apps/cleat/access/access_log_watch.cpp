#include "access/access_log_watch.hpp"

#include <cleat/core/limits.hpp>

#include <cerrno>
#include <utility>

namespace cleat::app {
namespace {

void log_losses(
    access_log_losses& losses, std::uint64_t lost, error_code obstacle, logger const& log) noexcept
{
    std::uint64_t const reported = losses.reported.exchange(lost);
    if (lost == reported)
        return;
    log_line line = log.warning("access-lines-lost");
    line.add("count", lost - reported);
    if (obstacle.value() == EAGAIN)
        line.add("reason", "its reader is too slow");
    else if (obstacle)
        line.add("reason", obstacle);
}

// Of a log that has ended.
void log_losses(access_log_losses& losses, logger const& log) noexcept
{
    log_losses(losses, losses.lost, {losses.obstacle, boost::system::system_category()}, log);
}

} // namespace

void access_log_watch::follow(std::shared_ptr<access_log const> present)
{
    if (present == present_)
        return;
    if (present_) {
        std::uint64_t const lost = present_->lines_lost();
        auto before = std::make_shared<std::atomic<std::uint64_t>>(lost_before_->load() + lost);
        formers_.push_back({present_->losses(), lost});
        lost_before_ = std::move(before);
    }
    present_ = std::move(present);
    next_look_ = next_report_ = next_obstacle_ = clock::time_point{};
}

std::optional<access_log_watch::clock::time_point> access_log_watch::next_look() const noexcept
{
    return present_ || !formers_.empty() ? std::optional{next_look_} : std::nullopt;
}

void access_log_watch::look_at_formers(logger const& log)
{
    std::erase_if(formers_, [&](former_log const& each) {
        if (!each.losses->ended)
            return false;
        *lost_before_ += each.losses->lost - each.counted;
        log_losses(*each.losses, log);
        return true;
    });
}

void access_log_watch::look(logger const& log, clock::time_point now)
{
    if (!next_look() || now < next_look_)
        return;
    next_look_ = now + limits::access_log_look_interval;
    look_at_formers(log);
    if (!present_)
        return;
    error_code const obstacle = present_->obstacle();
    // A reader that is slow for a moment is no failure: its lines wait.
    bool const is_failure = obstacle && obstacle.value() != EAGAIN;
    if (is_failure && now >= next_obstacle_) {
        next_obstacle_ = now + limits::access_log_report_interval;
        log.error("access-log-not-written").add("reason", obstacle);
    }
    std::uint64_t const lost = present_->lines_lost();
    if (lost == present_->losses()->reported || now < next_report_)
        return;
    next_report_ = now + limits::access_log_report_interval;
    log_losses(*present_->losses(), lost, obstacle, log);
}

void access_log_watch::finish(logger const& log)
{
    look_at_formers(log);
    if (present_)
        log_losses(*present_->losses(), log);
}

} // namespace cleat::app
