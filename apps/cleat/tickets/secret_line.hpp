// secret_line: the parts of a line in a file of ticket secrets, or of ratchets.

#pragma once

#include <cleat/tls/ticket_secret.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// secret_fault is a mistake in a line. Its text has nothing of the line.
struct secret_fault
{
    unsigned line = 0; ///< From 1.
    std::string text;
    std::string cure;
};

/// ratchet_word begins the line of a ratchet.
inline constexpr std::string_view ratchet_word = "ratchet";

/// is_ratchet_line: the line, without blanks around it, begins as one of a ratchet.
[[nodiscard]] bool is_ratchet_line(std::string_view line) noexcept;

/// hex_size is how many hexadecimal digits a secret has.
inline constexpr std::size_t hex_size = 2 * tls::ticket_secret{}.size();

/// hex_digit is the value of a digit, or -1 where it is none.
[[nodiscard]] int hex_digit(char c) noexcept;

/// are_all: each character is a digit.
[[nodiscard]] bool are_all(std::string_view text, int (*value)(char) noexcept) noexcept;

/// decode fills bytes. Each digit has `bits` bits. Bits at the end that fill no byte are left out.
void decode(
    std::string_view digits, int (*value)(char) noexcept, unsigned bits,
    std::span<std::byte> bytes) noexcept;

/// append_hex adds the digits of a secret, which is no copy elsewhere where text has room for them.
void append_hex(std::string& text, tls::ticket_secret const& secret);

/// stripped_line is a line without blanks at both ends.
[[nodiscard]] std::string_view stripped_line(std::string_view line) noexcept;

} // namespace cleat::app
