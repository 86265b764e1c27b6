// access_log_watch: counts the lines that access logs have lost, and says so in the log.

#pragma once

#include "access/access_log.hpp"
#include "log/log.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace cleat::app {

/// access_log_watch belongs to the main thread.
class access_log_watch
{
public:
    using clock = std::chrono::steady_clock;

    /// follow watches another access log; null: none. Lines that older connections lose in the one
    /// before are not counted any more.
    void follow(std::shared_ptr<access_log const> present);

    /// next_look is when to call look again; nothing: there is no access log.
    [[nodiscard]] std::optional<clock::time_point> next_look() const noexcept;

    /// look logs `access-log-not-written` where the disk or the reader fails, and
    /// `access-lines-lost`, each once in limits::access_log_report_interval.
    void look(logger const& log, clock::time_point now);

    [[nodiscard]] std::shared_ptr<access_log const> const& present() const noexcept
    {
        return present_;
    }

    /// lost_before is how many lines the access logs before the present one have lost.
    [[nodiscard]] std::uint64_t lost_before() const noexcept { return lost_before_; }

private:
    std::shared_ptr<access_log const> present_;
    std::uint64_t lost_before_ = 0;
    std::uint64_t reported_ = 0; // Of the present one's.
    clock::time_point next_look_{};
    clock::time_point next_report_{};
    clock::time_point next_obstacle_{};
};

} // namespace cleat::app
