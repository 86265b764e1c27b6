#include "log/log.hpp"

#include <cleat/core/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <syslog.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// The end of a line that had to be cut. Room for it, and for a closing quote before it, is
// reserved.
constexpr std::string_view cut_mark = " truncated=true";
constexpr std::size_t reserved = 1 + cut_mark.size() + 1;

bool is_letter_or_digit(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_key(std::string_view key) noexcept
{
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '_';
    });
}

bool needs_quotes(std::string_view value) noexcept
{
    return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
               return c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\';
           });
}

// One character as it is written between quotes: at most 6 characters.
std::string_view escaped(char const& c, std::array<char, 6>& space) noexcept
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        break;
    }
    if (c >= ' ' && c < 0x7f)
        return {&c, 1};
    constexpr std::string_view hex = "0123456789abcdef";
    auto const byte = static_cast<unsigned char>(c);
    space = {'\\', 'u', '0', '0', hex[byte >> 4U], hex[byte & 0xfU]};
    return {space.data(), space.size()};
}

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

// Sends a line to the log daemon, too. `text` begins after the time.
void write_copy(log_sink& syslog, log_level level, std::string_view text) noexcept
{
    constexpr std::size_t head_max = 64;
    std::array<char, head_max + limits::log_line_max> line; // NOLINT: filled by format_to_n
    auto const made = fmt::format_to_n(
        line.data(), line.size(), "<{}>{}[{}]: {}", syslog.facility() | syslog_severity(level),
        syslog.ident(), ::getpid(), text);
    static_cast<void>(syslog.write({line.data(), std::min(made.size, line.size())}));
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

log_line::log_line(log_sink* sink, log_level level, std::string_view event, int worker) noexcept
    : sink_{sink}
    , level_{level} // text_ is not initialized: only its first size_ characters are ever read
{
    if (sink_ == nullptr)
        return;
    bool fits = true;
    if (sink_->is_syslog()) {
        // RFC 3164 section 4.1, without the time, which the daemon adds (section 4.3.2).
        std::array<char, 16> number; // NOLINT: filled by to_chars
        auto const append_number = [&](int n) {
            auto const [end, ec] = std::to_chars(number.data(), number.data() + number.size(), n);
            return append({number.data(), end});
        };
        fits = append("<") && append_number(sink_->facility() | syslog_severity(level)) &&
               append(">") && append(sink_->ident()) && append("[") && append_number(::getpid()) &&
               append("]: ");
    } else {
        std::array<char, rfc3339_size> const now = format_rfc3339(std::chrono::system_clock::now());
        fits = append({now.data(), now.size()}) && append(" ");
    }
    fits = fits && append("level=") && append(name_of(level));
    cut_ = !fits;
    add("event", event);
    if (worker != logger::no_worker)
        add("worker", worker);
}

log_line::~log_line()
{
    if (sink_ == nullptr)
        return;
    if (cut_) {
        std::copy(cut_mark.begin(), cut_mark.end(), text_.data() + size_);
        size_ += cut_mark.size();
    }
    if (log_sink* const copy = sink_->copy())
        write_copy(*copy, level_, std::string_view{text_.data(), size_}.substr(rfc3339_size + 1));
    // A datagram needs no end of line.
    if (!sink_->is_syslog())
        text_[size_++] = '\n';
    if (!sink_->write({text_.data(), size_}))
        return;
    // This line was written, so a line about lost ones before it can be written too.
    if (std::uint64_t const lost = sink_->take_unreported(); lost != 0)
        log_line{sink_, log_level::warning, "log-lines-lost", logger::no_worker}.add("count", lost);
}

bool log_line::append(std::string_view text) noexcept
{
    if (text.size() > text_.size() - reserved - size_)
        return false;
    std::copy(text.begin(), text.end(), text_.data() + size_);
    size_ += text.size();
    return true;
}

bool log_line::append_quoted(std::string_view value) noexcept
{
    std::array<char, 6> space{};
    bool fits = append("\"");
    std::size_t const start = size_;
    for (std::size_t i = 0; fits && i != value.size(); ++i) {
        std::string_view const c = escaped(value[i], space);
        if (size_ - start + c.size() > limits::log_value_max) {
            cut_ = true;
            break;
        }
        fits = append(c);
    }
    return fits && append("\"");
}

bool log_line::append_plain(std::string_view value) noexcept
{
    cut_ = cut_ || value.size() > limits::log_value_max;
    return append(value.substr(0, limits::log_value_max));
}

log_line& log_line::add(std::string_view key, std::string_view value) noexcept
{
    CLEAT_ASSERT(is_key(key));
    if (sink_ == nullptr)
        return *this;
    // A field that does not fit is taken out again: a smaller one after it may fit.
    std::size_t const before = size_;
    bool const fits = append(" ") && append(key) && append("=") &&
                      (needs_quotes(value) ? append_quoted(value) : append_plain(value));
    if (!fits) {
        size_ = before;
        cut_ = true;
    }
    return *this;
}

log_line& log_line::add(std::string_view key, error_code const& value) noexcept
{
    if (value.category() == error_category())
        return add(key, name_of(static_cast<cleat::error>(value.value())));
    std::array<char, 128> text{};
    return add(key, std::string_view{value.message(text.data(), text.size())});
}

} // namespace cleat::app
