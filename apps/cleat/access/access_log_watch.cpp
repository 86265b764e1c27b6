#include "access/access_log_watch.hpp"

#include <cleat/core/limits.hpp>

#include <cerrno>
#include <utility>

namespace cleat::app {

void access_log_watch::follow(std::shared_ptr<access_log const> present)
{
    if (present == present_)
        return;
    if (present_)
        lost_before_ += present_->lines_lost();
    present_ = std::move(present);
    reported_ = 0;
    next_look_ = next_report_ = next_obstacle_ = clock::time_point{};
}

std::optional<access_log_watch::clock::time_point> access_log_watch::next_look() const noexcept
{
    return present_ ? std::optional{next_look_} : std::nullopt;
}

void access_log_watch::look(logger const& log, clock::time_point now)
{
    if (!present_ || now < next_look_)
        return;
    next_look_ = now + limits::access_log_look_interval;
    error_code const obstacle = present_->obstacle();
    // A reader that is slow for a moment is no failure: its lines wait.
    bool const is_failure = obstacle && obstacle.value() != EAGAIN;
    if (is_failure && now >= next_obstacle_) {
        next_obstacle_ = now + limits::access_log_report_interval;
        log.error("access-log-not-written").add("reason", obstacle);
    }
    std::uint64_t const lost = present_->lines_lost();
    if (lost == reported_ || now < next_report_)
        return;
    next_report_ = now + limits::access_log_report_interval;
    log_line line = log.warning("access-lines-lost");
    line.add("count", lost - std::exchange(reported_, lost));
    if (obstacle)
        line.add("reason", obstacle);
}

} // namespace cleat::app
