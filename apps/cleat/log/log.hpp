// log: one line for each event, as key=value pairs (logfmt), which no peer can forge or break.
//
//     logger const log{*sink, log_level::info, worker};
//     log.warning("handshake-failed").add("peer", peer).add("reason", why);
//
//     2026-11-21T01:02:03.456Z level=warning event=handshake-failed worker=0 peer=127.0.0.1:1234
//     reason=no-shared-cipher                                                   (all on one line)
//
// line_text.hpp has the rules of quotes.

#pragma once

#include "log/line_text.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/error.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cleat::app {

/// log_level is how important a line is; as a threshold, which lines are written.
enum class log_level : std::uint8_t
{
    silent,  ///< As a threshold: nothing. No line has this level.
    error,   ///< Something that the operator must fix.
    warning, ///< Something that the operator should look at.
    info,    ///< Events of connections and of the process.
    debug,   ///< Details for a reader of the source.
};

/// log_level_of is the threshold for the configuration's number: 0 silent, 1 errors and warnings, 2
/// info, 3 debug. Nothing for any other number.
[[nodiscard]] std::optional<log_level> log_level_of(int setting) noexcept;

/// setting_of is that number.
[[nodiscard]] int setting_of(log_level threshold) noexcept;

/// name_of is the level as a line spells it.
[[nodiscard]] std::string_view name_of(log_level level) noexcept;

/// rfc3339_size is the length of "2026-11-21T01:02:03.456Z".
inline constexpr std::size_t rfc3339_size = 24;

/// format_rfc3339 is the time in UTC with milliseconds (RFC 3339 section 5.6). It uses no time
/// zone, because libc takes a lock to read it.
[[nodiscard]] std::array<char, rfc3339_size> format_rfc3339(
    std::chrono::system_clock::time_point moment) noexcept;

/// log_line is one event while its fields are added; it is written when it is destroyed, which is
/// at the end of the statement. It lives on the stack and allocates nothing. Where its level is not
/// wanted it does nothing at all.
class log_line
{
public:
    log_line(log_line&&) = delete;
    ~log_line();

    /// add appends key=value. The key is the program's own: letters, digits, '-' and '_'. The value
    /// may be a peer's: it is escaped, and cut after limits::log_value_max characters.
    log_line& add(std::string_view key, std::string_view value) noexcept
    {
        if (sink_ != nullptr)
            text_.add(key, value);
        return *this;
    }
    log_line& add(std::string_view key, char const* value) noexcept
    {
        return add(key, std::string_view{value});
    }

    /// add appends a number, or true or false.
    template <std::integral T>
        requires(!std::same_as<T, char>)
    log_line& add(std::string_view key, T value) noexcept
    {
        if (sink_ != nullptr)
            text_.add(key, value);
        return *this;
    }

    /// add appends the error's name where it is cleat's, else its category's text.
    log_line& add(std::string_view key, error_code const& value) noexcept;

private:
    friend class logger;
    log_line(log_sink* sink, log_level level, std::string_view event, int worker) noexcept;

    log_sink* sink_; // Null when the line is not wanted.
    log_level level_;
    line_text text_;
};

/// text_of_error is the error's name where it is cleat's, else its category's text, written into
/// `space`.
[[nodiscard]] std::string_view text_of_error(
    error_code const& value, std::array<char, 128>& space) noexcept;

/// syslog_head is what a line for the log daemon begins with: a priority and the program's name
/// (RFC 3164, section 4.1). `space` is where it is written.
[[nodiscard]] std::string_view syslog_head(
    log_sink const& sink, log_level level, std::array<char, 64>& space) noexcept;

/// logger writes a worker's lines to a sink, down to a level. It is cheap to copy; the sink
/// outlives it. One thread each.
class logger
{
public:
    static constexpr int no_worker = -1;

    /// logger that writes nothing.
    logger() noexcept = default;
    logger(log_sink& sink, log_level level, int worker = no_worker) noexcept
        : sink_{&sink}, level_{level}, worker_{worker}
    {
    }

    /// for_worker is the same logger for another worker.
    [[nodiscard]] logger for_worker(int worker) const noexcept
    {
        logger copy = *this;
        copy.worker_ = worker;
        return copy;
    }

    /// wants: a line of that level is written. Call it before values that are costly to make.
    [[nodiscard]] bool wants(log_level level) const noexcept
    {
        return sink_ != nullptr && level != log_level::silent && level <= present_level();
    }

    /// report_lost_lines writes how many lines the sink has lost since the last report, and nothing
    /// where it has lost none. A line that is written does the same; so call it where no line may
    /// follow for long.
    void report_lost_lines() const noexcept;

    /// present_level is the sink's where that has one, else the logger's own.
    [[nodiscard]] log_level present_level() const noexcept
    {
        int const common = sink_ == nullptr ? log_sink::own_levels : sink_->level();
        return common == log_sink::own_levels ? level_ : static_cast<log_level>(common);
    }

    /// line begins an event's line; error, warning, info and debug begin a line of their level.
    log_line line(log_level level, std::string_view event) const noexcept
    {
        return {wants(level) ? sink_ : nullptr, level, event, worker_};
    }
    log_line error(std::string_view event) const noexcept { return line(log_level::error, event); }
    log_line warning(std::string_view event) const noexcept
    {
        return line(log_level::warning, event);
    }
    log_line info(std::string_view event) const noexcept { return line(log_level::info, event); }
    log_line debug(std::string_view event) const noexcept { return line(log_level::debug, event); }

private:
    log_sink* sink_ = nullptr;
    log_level level_ = log_level::silent;
    int worker_ = no_worker;
};

} // namespace cleat::app
