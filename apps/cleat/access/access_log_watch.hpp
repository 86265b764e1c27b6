// access_log_watch: counts the lines that access logs have lost, and says so in the log.

#pragma once

#include "access/access_log.hpp"
#include "log/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

/// access_log_watch belongs to the main thread.
class access_log_watch
{
public:
    using clock = std::chrono::steady_clock;

    /// follow watches another access log; null: none. The one before is watched until it has ended,
    /// with the last of its connections. Then all lines that it has lost are counted.
    void follow(std::shared_ptr<access_log const> present);

    /// next_look is when to call look again; nothing: there is no access log.
    [[nodiscard]] std::optional<clock::time_point> next_look() const noexcept;

    /// look logs `access-log-not-written` where the disk or the reader fails, and
    /// `access-lines-lost`, each once in limits::access_log_report_interval.
    void look(logger const& log, clock::time_point now);

    /// finish logs `access-lines-lost` for each log that has lost lines which no line of the log
    /// reports, whenever the last look was. All of them have ended.
    void finish(logger const& log);

    [[nodiscard]] std::shared_ptr<access_log const> const& present() const noexcept
    {
        return present_;
    }

    /// lost_before is how many lines the access logs before the present one have lost. It grows
    /// where they lose more at their end. The next follow makes another counter, so with the log
    /// that was present no line is counted twice. Any thread reads it.
    [[nodiscard]] std::shared_ptr<std::atomic<std::uint64_t> const> lost_before() const noexcept
    {
        return lost_before_;
    }

private:
    struct former_log
    {
        std::shared_ptr<access_log_losses> losses;
        std::uint64_t counted; // In lost_before_.
    };

    void look_at_formers(logger const& log);

    std::shared_ptr<access_log const> present_;
    std::vector<former_log> formers_; // That have not ended.
    std::shared_ptr<std::atomic<std::uint64_t>> lost_before_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    clock::time_point next_look_{};
    clock::time_point next_report_{};
    clock::time_point next_obstacle_{};
};

} // namespace cleat::app
