// failure_burst: lets the first log lines of each reason for a failure through, and counts the
// rest.

#pragma once

#include "close_reason.hpp"
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

/// failure_burst is a worker's. An interval begins with the first failure after the one before. In
/// it each event has `burst` lines for each of its reasons. At its end one line for each reason of
/// which there were more says how many lines are missing.
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

    /// follow takes the log and the number of lines from a configuration; 0: all lines are written.
    /// The interval ends. The log before is still there.
    void follow(logger const& log, int burst) noexcept;

    /// admits: a line of this level about this failure is to be written. The event's name has
    /// static storage.
    [[nodiscard]] bool admits(log_level level, std::string_view event, error_code why) noexcept;
    [[nodiscard]] bool admits(log_level level, std::string_view event, close_reason why) noexcept;

    /// end writes the lines about those that are missing, and ends the interval: the log may go.
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
