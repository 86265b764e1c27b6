#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <utf8proc.h>

namespace statsync {
namespace {

bool is_ascii(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

char lower_ascii(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered_ascii(std::string_view text)
{
    std::string lowered(text);
    std::ranges::transform(lowered, lowered.begin(), lower_ascii);
    return lowered;
}

void append_code_point(std::string& text, utf8proc_int32_t code_point)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t const size = utf8proc_encode_char(code_point, bytes);
    text.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size));
}

/// next reads one code point and returns its length; -1 in `code_point` is a byte that is none.
std::size_t next(std::string_view text, utf8proc_int32_t& code_point)
{
    utf8proc_ssize_t const size = utf8proc_iterate(
        reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
        static_cast<utf8proc_ssize_t>(text.size()), &code_point);
    if (size <= 0) {
        code_point = -1;
        return 1;
    }
    return static_cast<std::size_t>(size);
}

std::string lowered(std::string_view text)
{
    constexpr utf8proc_int32_t dotted_capital_i = 0x130;
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        utf8proc_int32_t code_point = 0;
        std::size_t const size = next(text, code_point);
        if (code_point < 0) {
            result.push_back(text.front());
        } else if (code_point == dotted_capital_i) {
            result += "i\u0307"; // Its full mapping; utf8proc knows the simple ones.
        } else {
            append_code_point(result, utf8proc_tolower(code_point));
        }
        text.remove_prefix(size);
    }
    return result;
}

std::string mapped(std::string_view text, int options)
{
    utf8proc_uint8_t* made = nullptr;
    utf8proc_ssize_t const size = utf8proc_map(
        reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
        static_cast<utf8proc_ssize_t>(text.size()), &made, static_cast<utf8proc_option_t>(options));
    std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> const owner(made, &std::free);
    if (size < 0) {
        return lowered(text);
    }
    return std::string(reinterpret_cast<char const*>(made), static_cast<std::size_t>(size));
}

} // namespace

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n\v\f";
    std::size_t const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string in_form(std::string_view name, text_form form)
{
    if (form == text_form::lower) {
        return is_ascii(name) ? lowered_ascii(name) : lowered(name);
    }
    std::string_view const text = trimmed(name);
    if (is_ascii(text)) {
        return lowered_ascii(text);
    }
    constexpr int folded = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD;
    // Folding may decompose, so that a second pass composes again.
    std::string const once =
        mapped(text, form == text_form::compatible ? folded | UTF8PROC_COMPAT : folded);
    return std::string(trimmed(mapped(once, UTF8PROC_STABLE | UTF8PROC_COMPOSE)));
}

std::string printable(std::string_view text)
{
    constexpr utf8proc_int32_t replacement = 0xfffd;
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        utf8proc_int32_t code_point = 0;
        std::size_t const size = next(text, code_point);
        utf8proc_category_t const category =
            code_point < 0 ? UTF8PROC_CATEGORY_CC : utf8proc_category(code_point);
        bool const obeyed = category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                            category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
        append_code_point(result, obeyed ? replacement : code_point);
        text.remove_prefix(size);
    }
    return result;
}

} // namespace statsync
