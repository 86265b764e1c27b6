// failure_burst: lets the first log lines of each reason for a failure through, and counts the
// rest.

#pragma once

#include "counts/close_reason.hpp"
#include "log/log.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/worker.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cleat::app {

/// failure_burst belongs to one worker. An interval begins with the first failure after the end of
/// the interval before. In it each event may log `burst` lines for each of its reasons, and each
/// level where a reason has two. At the end of the interval, one line for each with more failures
/// says how many lines are missing.
class failure_burst : deadline
{
public:
    explicit failure_burst(
        net::worker& worker, std::chrono::milliseconds interval = limits::failure_interval) noexcept
        : deadline{&failure_burst::on_expired}, worker_{worker}, interval_{interval}
    {
    }
    failure_burst(failure_burst&&) = delete;
    ~failure_burst() = default;

    /// follow takes the log and the number of lines of a configuration; 0: all lines are written.
    /// It ends the interval, and so may still write to the log before.
    void follow(logger const& log, int burst) noexcept;

    /// admits: a line of this level about this failure may be written. The event's name has static
    /// storage.
    [[nodiscard]] bool admits(log_level level, std::string_view event, error_code why) noexcept;
    [[nodiscard]] bool admits(log_level level, std::string_view event, close_reason why) noexcept;

    /// end writes the lines about missing lines, and ends the interval. The log is not used any
    /// more.
    void end() noexcept;

private:
    struct place
    {
        log_level level = log_level::warning;
        std::string_view event;
        error_code error;
        std::optional<close_reason> reason; // Instead of the error.
        std::uint64_t seen = 0;
    };

    static void on_expired(deadline& d) noexcept;
    [[nodiscard]] bool count(place const& wanted) noexcept;
    void report(place const& each) const noexcept;

    net::worker& worker_;
    std::chrono::milliseconds interval_;
    logger log_;
    std::uint64_t burst_ = 0;
    std::size_t used_ = 0;
    // Reasons that find no place share the last one.
    std::array<place, limits::failure_reasons_max> places_{};
};

} // namespace cleat::app
