#include "inspect/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace cleat::app {
namespace {

bool is_tail(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// The bytes of the character that the text begins with; 0: it is no UTF-8 (RFC 3629, section 4).
std::size_t character_size(std::string_view text) noexcept
{
    auto const first = static_cast<unsigned char>(text.front());
    std::size_t const size = first < 0x80U    ? 1
                             : first < 0xC2U  ? 0
                             : first < 0xE0U  ? 2
                             : first < 0xF0U  ? 3
                             : first <= 0xF4U ? 4
                                              : 0;
    if (size == 0 || text.size() < size)
        return 0;
    std::string_view const tail = text.substr(1, size - 1);
    if (!std::ranges::all_of(tail, is_tail))
        return 0;
    auto const second = size == 1 ? 0U : static_cast<unsigned char>(text[1]);
    bool const is_wrong = (first == 0xE0U && second < 0xA0U) || // Longer than need be.
                          (first == 0xEDU && second > 0x9FU) || // A surrogate.
                          (first == 0xF0U && second < 0x90U) ||
                          (first == 0xF4U && second > 0x8FU); // Above U+10FFFF.
    return is_wrong ? 0 : size;
}

} // namespace

std::string json_string(std::string_view text)
{
    std::string out = "\"";
    while (!text.empty()) {
        std::size_t const size = character_size(text);
        char const c = text.front();
        if (size == 0)
            out += "\\ufffd";
        else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else if (c == '"' || c == '\\')
            out += {'\\', c};
        else
            out += text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out + '"';
}

std::string json_strings(std::span<std::string const> texts)
{
    std::string out = "[";
    for (std::string const& each : texts)
        out += (out.size() == 1 ? "" : ", ") + json_string(each);
    return out + ']';
}

} // namespace cleat::app
