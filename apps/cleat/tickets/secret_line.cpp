#include "tickets/secret_line.hpp"

#include <algorithm>
#include <cstdint>

namespace cleat::app {

int hex_digit(char c) noexcept
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool are_all(std::string_view text, int (*value)(char) noexcept) noexcept
{
    return std::ranges::all_of(text, [value](char c) { return value(c) >= 0; });
}

void decode(
    std::string_view digits, int (*value)(char) noexcept, unsigned bits,
    std::span<std::byte> bytes) noexcept
{
    std::uint32_t kept = 0;
    unsigned kept_bits = 0;
    std::size_t i = 0;
    for (char const c : digits) {
        kept = (kept << bits) | static_cast<std::uint32_t>(value(c));
        kept_bits += bits;
        if (kept_bits < 8)
            continue;
        kept_bits -= 8;
        bytes[i++] = std::byte(kept >> kept_bits);
    }
}

void append_hex(std::string& text, tls::ticket_secret const& secret)
{
    for (std::byte const each : secret)
        for (unsigned const shift : {4U, 0U})
            text += "0123456789abcdef"[std::to_integer<unsigned>(each) >> shift & 0xfU];
}

std::string_view stripped_line(std::string_view line) noexcept
{
    constexpr std::string_view margin = " \t\r";
    std::size_t const begin = line.find_first_not_of(margin);
    if (begin == std::string_view::npos)
        return {};
    return line.substr(begin, line.find_last_not_of(margin) - begin + 1);
}

bool is_ratchet_line(std::string_view line) noexcept
{
    return line.starts_with(ratchet_word) &&
           stripped_line(line.substr(ratchet_word.size(), 1)).empty();
}

} // namespace cleat::app
