// utf8: texts that need not be UTF-8, such as a file's name, for documents that must be.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace cleat::app {

/// utf8_character_size is how many bytes the character has that the text begins with; 0: it begins
/// with none (RFC 3629, section 4). The text must not be empty.
[[nodiscard]] inline std::size_t utf8_character_size(std::string_view text) noexcept
{
    auto const is_tail = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    auto const first = static_cast<unsigned char>(text.front());
    std::size_t const size = first < 0x80U    ? 1
                             : first < 0xC2U  ? 0
                             : first < 0xE0U  ? 2
                             : first < 0xF0U  ? 3
                             : first <= 0xF4U ? 4
                                              : 0;
    if (size == 0 || text.size() < size)
        return 0;
    if (!std::ranges::all_of(text.substr(1, size - 1), is_tail))
        return 0;
    auto const second = size == 1 ? 0U : static_cast<unsigned char>(text[1]);
    bool const is_wrong = (first == 0xE0U && second < 0xA0U) || // Longer than need be.
                          (first == 0xEDU && second > 0x9FU) || // A surrogate.
                          (first == 0xF0U && second < 0x90U) ||
                          (first == 0xF4U && second > 0x8FU); // Above U+10FFFF.
    return is_wrong ? 0 : size;
}

/// distinct_utf8 is a text as UTF-8, the same for no other text: a byte that is no part of a
/// character becomes U+FFFD and its two hexadecimal digits. So do the bytes of U+FFFD itself.
[[nodiscard]] inline std::string distinct_utf8(std::string_view text)
{
    constexpr std::string_view replacement = "\xef\xbf\xbd";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t const size = utf8_character_size(text);
        std::string_view const next = text.substr(0, std::max<std::size_t>(size, 1));
        if (size != 0 && next != replacement)
            out += next;
        else
            for (char const byte : next)
                fmt::format_to(
                    std::back_inserter(out), "{}{:02X}", replacement,
                    static_cast<unsigned char>(byte));
        text.remove_prefix(next.size());
    }
    return out;
}

} // namespace cleat::app
