#include "log/log.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <syslog.h>
#include <unistd.h>

namespace cleat::app {
namespace {

int syslog_severity(log_level level) noexcept
{
    switch (level) {
    case log_level::silent:
    case log_level::error:
        return LOG_ERR;
    case log_level::warning:
        return LOG_WARNING;
    case log_level::info:
        return LOG_INFO;
    case log_level::debug:
        return LOG_DEBUG;
    }
    return LOG_ERR;
}

// Writes value in decimal, with zeros before it to fill the width.
void put_digits(char* text, std::size_t width, std::uint64_t value) noexcept
{
    for (std::size_t i = width; i-- != 0; value /= 10)
        text[i] = static_cast<char>('0' + value % 10);
}

} // namespace

std::optional<log_level> log_level_of(int setting) noexcept
{
    switch (setting) {
    case 0:
        return log_level::silent;
    case 1:
        return log_level::warning;
    case 2:
        return log_level::info;
    case 3:
        return log_level::debug;
    default:
        return std::nullopt;
    }
}

int setting_of(log_level threshold) noexcept
{
    int const number = static_cast<int>(threshold);
    return number == 0 ? 0 : number - static_cast<int>(log_level::error);
}

std::string_view name_of(log_level level) noexcept
{
    switch (level) {
    case log_level::silent:
        return "silent";
    case log_level::error:
        return "error";
    case log_level::warning:
        return "warning";
    case log_level::info:
        return "info";
    case log_level::debug:
        return "debug";
    }
    return "unknown";
}

std::array<char, rfc3339_size> format_rfc3339(std::chrono::system_clock::time_point moment) noexcept
{
    using namespace std::chrono;
    auto const whole = floor<milliseconds>(moment);
    auto const day = floor<days>(whole);
    year_month_day const date{day};
    hh_mm_ss const time{whole - day};

    std::array<char, rfc3339_size> text; // NOLINT: filled below
    std::string_view const shape = "0000-00-00T00:00:00.000Z";
    std::copy(shape.begin(), shape.end(), text.begin());
    put_digits(&text[0], 4, static_cast<std::uint64_t>(int{date.year()}));
    put_digits(&text[5], 2, unsigned{date.month()});
    put_digits(&text[8], 2, unsigned{date.day()});
    put_digits(&text[11], 2, static_cast<std::uint64_t>(time.hours().count()));
    put_digits(&text[14], 2, static_cast<std::uint64_t>(time.minutes().count()));
    put_digits(&text[17], 2, static_cast<std::uint64_t>(time.seconds().count()));
    put_digits(&text[20], 3, static_cast<std::uint64_t>(time.subseconds().count()));
    return text;
}

// Without the time, which the daemon adds (section 4.3.2).
std::string_view syslog_head(
    log_sink const& sink, log_level level, std::array<char, 64>& space) noexcept
{
    std::size_t size = 0;
    auto const append = [&](std::string_view text) {
        size += text.copy(space.data() + size, space.size() - size);
    };
    auto const append_number = [&](int n) {
        std::array<char, 16> number; // NOLINT: filled by to_chars
        auto const [end, ec] = std::to_chars(number.data(), number.data() + number.size(), n);
        append({number.data(), end});
    };
    append("<");
    append_number(sink.facility() | syslog_severity(level));
    append(">");
    append(sink.ident());
    append("[");
    append_number(::getpid());
    append("]: ");
    return {space.data(), size};
}

namespace {

// Sends a line to the log daemon, too. `text` begins after the time, and has no newline.
void write_copy(log_sink& syslog, log_level level, std::string_view text) noexcept
{
    std::array<char, 64> space; // NOLINT: filled by syslog_head
    std::string_view const head = syslog_head(syslog, level, space);
    std::array<char, space.size() + limits::log_line_max> line; // NOLINT: filled below
    head.copy(line.data(), head.size());
    text.copy(line.data() + head.size(), line.size() - head.size());
    static_cast<void>(
        syslog.write({line.data(), std::min(head.size() + text.size(), line.size())}));
}

line_text begin_line(log_sink const* sink, log_level level) noexcept
{
    if (sink == nullptr)
        return line_text{line_form::logfmt};
    if (sink->is_syslog()) {
        std::array<char, 64> space; // NOLINT: filled by syslog_head
        return line_text{line_form::logfmt, syslog_head(*sink, level, space)};
    }
    std::array<char, rfc3339_size> const now = format_rfc3339(std::chrono::system_clock::now());
    return line_text{line_form::logfmt, {now.data(), now.size()}, true};
}

} // namespace

log_line::log_line(log_sink* sink, log_level level, std::string_view event, int worker) noexcept
    : sink_{sink}, level_{level}, text_{begin_line(sink, level)}
{
    if (sink_ == nullptr)
        return;
    text_.add("level", name_of(level));
    text_.add("event", event);
    if (worker != logger::no_worker)
        text_.add("worker", worker);
}

log_line::~log_line()
{
    if (sink_ == nullptr)
        return;
    // A datagram needs no end of line.
    std::string_view const text = text_.end(!sink_->is_syslog());
    if (log_sink* const copy = sink_->copy())
        write_copy(*copy, level_, text.substr(rfc3339_size + 1, text.size() - rfc3339_size - 2));
    if (!sink_->write(text))
        return;
    // This line was written, so a line about lost ones before it can be written too.
    if (std::uint64_t const lost = sink_->take_unreported(); lost != 0)
        log_line{sink_, log_level::warning, "log-lines-lost", logger::no_worker}.add("count", lost);
}

log_line& log_line::add(std::string_view key, error_code const& value) noexcept
{
    std::array<char, 128> text{};
    return add(key, text_of_error(value, text));
}

std::string_view text_of_error(error_code const& value, std::array<char, 128>& space) noexcept
{
    if (value.category() == error_category())
        return name_of(static_cast<cleat::error>(value.value()));
    return value.message(space.data(), space.size());
}

} // namespace cleat::app
