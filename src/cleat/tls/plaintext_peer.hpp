// plaintext_peer: recognises what a peer sends in plaintext where TLS is expected, for the log.
// Pure.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace cleat::tls {

/// begins_like_http is true for the start of an HTTP/1 request with any method: a token of capital
/// letters, one space, and a target (RFC 9112, section 3). TLS libraries recognise only five
/// methods. Commands of SMTP (RFC 5321, section 4.1.1) and a PROXY header of version 1 have the
/// same form, and are excluded.
[[nodiscard]] inline bool begins_like_http(std::span<std::byte const> bytes) noexcept
{
    constexpr std::size_t method_max = 20; // The longest registered one is UPDATEREDIRECTREF.
    auto const byte_at = [bytes](std::size_t i) { return static_cast<char>(bytes[i]); };
    std::size_t const end = std::min(bytes.size(), method_max);
    std::size_t i = 0;
    while (i < end && ((byte_at(i) >= 'A' && byte_at(i) <= 'Z') || byte_at(i) == '-'))
        ++i;
    constexpr std::array<std::string_view, 6> others{"PROXY", "EHLO", "HELO",
                                                     "MAIL",  "RCPT", "VRFY"};
    for (std::string_view const other : others)
        if (std::ranges::equal(bytes.first(i), std::as_bytes(std::span{other})))
            return false;
    // A target is a path, "*", an authority or a URL.
    return i >= 3 && i + 1 < bytes.size() && byte_at(i) == ' ' && byte_at(i + 1) > ' ' &&
           byte_at(i + 1) < 127;
}

/// begins_like_proxy_header is true for the start of a PROXY header, version 1 or 2 (PROXY protocol
/// specification, sections 2.1 and 2.2). Five bytes are enough: a TLS library refuses after those.
[[nodiscard]] inline bool begins_like_proxy_header(std::span<std::byte const> bytes) noexcept
{
    constexpr std::size_t enough = 5;
    constexpr std::string_view version_1{"PROXY "};
    constexpr std::string_view version_2{"\r\n\r\n\0\r\nQUIT\n", 12};
    auto const begins = [bytes](std::string_view signature) {
        std::size_t const size = std::min(bytes.size(), signature.size());
        return size >= enough &&
               std::ranges::equal(
                   bytes.first(size), std::as_bytes(std::span{signature.data(), size}));
    };
    return begins(version_1) || begins(version_2);
}

/// plaintext_alert is the description of a fatal alert that is the first of these plaintext records
/// (RFC 8446, sections 5.1 and 6), but for change_cipher_spec, or -1. A client that refuses a TLS
/// 1.3 certificate may send its alert in plaintext, which a library that expects an encrypted
/// record reports as a bad record. Behind any other record it is not why the library failed.
[[nodiscard]] inline int plaintext_alert(std::span<std::byte const> records) noexcept
{
    constexpr std::size_t header_size = 5;
    constexpr std::byte change_cipher_spec{20};
    constexpr std::byte alert{21};
    constexpr std::byte fatal{2};
    while (records.size() >= header_size) {
        std::size_t const size = std::to_integer<std::size_t>(records[3]) << 8U |
                                 std::to_integer<std::size_t>(records[4]);
        if (records.size() - header_size < size)
            return -1;
        std::span<std::byte const> const body = records.subspan(header_size, size);
        if (records[0] == alert && size == 2 && body[0] == fatal)
            return std::to_integer<int>(body[1]);
        if (records[0] != change_cipher_spec)
            return -1;
        records = records.subspan(header_size + size);
    }
    return -1;
}

} // namespace cleat::tls
