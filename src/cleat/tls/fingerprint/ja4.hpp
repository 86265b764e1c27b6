// ja4: the JA4 fingerprint of a TLS client, from its ClientHello as it was received.
//
// JA4 is by FoxIO; the method for TLS clients is free to use (BSD 3-Clause), unlike the other
// methods of JA4+. It distinguishes programs, not people: all browsers of one version have the
// same.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::tls {

/// ja4_fingerprint is a text like "t13d1516h2_8daaf6152771_e5627efa2ab1", or empty.
struct ja4_fingerprint
{
    /// size_max is the length of the longest fingerprint.
    static constexpr std::size_t size_max = 36;

    /// The text is the first `size` characters of `bytes`.
    std::array<char, size_max> bytes{};
    std::uint8_t size = 0;

    /// text is a view into this object.
    [[nodiscard]] std::string_view text() const noexcept { return {bytes.data(), size}; }
};

/// ja4_of is the fingerprint of a ClientHello over TCP, without the four bytes of the handshake
/// message's header (RFC 8446, section 4.1.2). Empty where it is malformed, or has more than
/// limits::fingerprint_values_max cipher suites, extensions or signature algorithms. GREASE
/// (RFC 8701) does not count. It allocates nothing.
[[nodiscard]] ja4_fingerprint ja4_of(std::span<std::uint8_t const> client_hello) noexcept;

} // namespace cleat::tls
