// plaintext_alert: a fatal alert to a client whose ClientHello was read and not answered.

#pragma once

#include <cleat/net/socket.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::app {

/// alert_record is a fatal alert in plaintext (RFC 8446, section 6).
using alert_record = std::array<std::uint8_t, 7>;
[[nodiscard]] constexpr alert_record alert_record_of(std::uint8_t description) noexcept
{
    return {21, 3, 3, 0, 2, 2, description};
}

/// RFC 8446, section 6.2.
inline constexpr std::uint8_t alert_internal_error = 80;
inline constexpr std::uint8_t alert_unrecognized_name = 112;

/// send_plaintext_alert: a client reads a fatal alert in plaintext until it has a ServerHello (RFC
/// 8446, section 6). Best effort: a client that has sent more than its ClientHello may get an RST
/// instead.
inline void send_plaintext_alert(net::socket& client, std::uint8_t description) noexcept
{
    alert_record const record = alert_record_of(description);
    static_cast<void>(client.send(std::as_bytes(std::span{record})));
}

} // namespace cleat::app
