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

// Sends a line of the sink to its copy, too, which is a log daemon: without the time, and without
// the newline.
void write_copy(log_sink const& sink, log_level level, std::string_view line) noexcept
{
    if (sink.copy() == nullptr)
        return;
    std::string_view const text = line.substr(rfc3339_size + 1, line.size() - rfc3339_size - 2);
    std::array<char, 64> space; // NOLINT: filled by syslog_head
    std::string_view const head = syslog_head(*sink.copy(), level, space);
    std::array<char, space.size() + limits::log_line_max> copy; // NOLINT: filled below
    head.copy(copy.data(), head.size());
    text.copy(copy.data() + head.size(), copy.size() - head.size());
    static_cast<void>(
        sink.copy()->write({copy.data(), std::min(head.size() + text.size(), copy.size())}));
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

// A report that is lost is no lost line, and the next report has its number.
void report_lost_lines(log_sink& sink) noexcept
{
    std::uint64_t const lost = sink.take_unreported();
    if (lost == 0)
        return;
    line_text line = begin_line(&sink, log_level::warning);
    line.add("level", name_of(log_level::warning));
    line.add("event", "log-lines-lost");
    line.add("count", lost);
    std::string_view const text = line.end(!sink.is_syslog());
    if (sink.try_write(text))
        write_copy(sink, log_level::warning, text);
    else
        sink.put_back_unreported(lost);
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
    std::string_view const text = text_.end(!sink_->is_syslog());
    write_copy(*sink_, level_, text);
    if (sink_->write(text))
        report_lost_lines(*sink_); // There was room for this line, so there may be for the report.
}

void logger::report_lost_lines() const noexcept
{
    if (wants(log_level::warning))
        app::report_lost_lines(*sink_);
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
