#include "log/line_text.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>

namespace cleat::app {
namespace {

// The ends of a line, for which room is reserved with a closing quote before them and a newline.
constexpr std::string_view logfmt_cut_mark = " truncated=true";
constexpr std::string_view json_cut_mark = ",\"truncated\":true";
constexpr std::size_t reserved = 1 + json_cut_mark.size() + 2;

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

bool needs_escape(char c) noexcept
{
    return c < ' ' || c >= 0x7f || c == '"' || c == '\\';
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
    if (!needs_escape(c))
        return {&c, 1};
    constexpr std::string_view hex = "0123456789abcdef";
    auto const byte = static_cast<unsigned char>(c);
    space = {'\\', 'u', '0', '0', hex[byte >> 4U], hex[byte & 0xfU]};
    return {space.data(), space.size()};
}

} // namespace

line_text::line_text(line_form form, std::string_view head, bool is_separate) noexcept
    : form_{form} // text_ is not initialized: only its first size_ characters are ever read
    , is_first_{!is_separate || form == line_form::json}
{
    cut_ = !append(head) || (form == line_form::json && !append("{"));
}

bool line_text::append(std::string_view text) noexcept
{
    if (text.size() > text_.size() - reserved - size_)
        return false;
    std::copy(text.begin(), text.end(), text_.data() + size_);
    size_ += text.size();
    return true;
}

bool line_text::append_key(std::string_view key) noexcept
{
    CLEAT_ASSERT(is_key(key));
    if (form_ == line_form::logfmt)
        return append(is_first_ ? "" : " ") && append(key) && append("=");
    return append(is_first_ ? "\"" : ",\"") && append(key) && append("\":");
}

bool line_text::append_quoted(std::string_view value) noexcept
{
    if (!append("\""))
        return false;
    // Most values need no escape, and are copied at once.
    if (value.size() <= limits::log_value_max && std::ranges::none_of(value, needs_escape))
        return append(value) && append("\"");
    std::array<char, 6> space{};
    bool fits = true;
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

bool line_text::append_plain(std::string_view value) noexcept
{
    cut_ = cut_ || value.size() > limits::log_value_max;
    return append(value.substr(0, limits::log_value_max));
}

// A field that does not fit is taken out again: a smaller one after it may fit.
void line_text::end_field(std::size_t before, bool fits) noexcept
{
    if (!fits) {
        size_ = before;
        cut_ = true;
        return;
    }
    is_first_ = false;
}

void line_text::add(std::string_view key, std::string_view value) noexcept
{
    std::size_t const before = size_;
    bool const quoted = form_ == line_form::json || needs_quotes(value);
    end_field(before, append_key(key) && (quoted ? append_quoted(value) : append_plain(value)));
}

void line_text::add_bare(std::string_view key, std::string_view value) noexcept
{
    std::size_t const before = size_;
    end_field(before, append_key(key) && append_plain(value));
}

std::string_view line_text::end(bool with_newline) noexcept
{
    auto const put = [this](std::string_view text) { // Room is reserved.
        std::copy(text.begin(), text.end(), text_.data() + size_);
        size_ += text.size();
    };
    if (cut_)
        put(form_ == line_form::json ? json_cut_mark.substr(is_first_ ? 1 : 0) : logfmt_cut_mark);
    if (form_ == line_form::json)
        put("}");
    if (with_newline)
        put("\n");
    return {text_.data(), size_};
}

} // namespace cleat::app
