// close_reason: every way in which a connection can end, for the log and the counters.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

enum class close_reason : std::uint8_t
{
    // Ends that belong to a good day: is_good below.
    done,          ///< Both sides closed cleanly.
    client_silent, ///< The client closed before its first byte: a health check, mostly.
    client_reset,  ///< The client sent RST, as browsers do that have what they wanted.
    idle_timeout,  ///< No byte either way for idle-timeout.
    stopped,       ///< The program ended.

    // The client's side.
    handshake_timeout, ///< No finished handshake within ssl-handshake-timeout.
    handshake_failed,  ///< The log line has the reason.
    linger_timeout,    ///< The answer was out, and the client did not close.
    client_gone,       ///< The client closed during the handshake.
    client_truncated,  ///< The client's FIN came without close_notify: bytes may be missing.
    client_failed,     ///< TLS broke on an established connection: bad record, fatal alert.

    // The upstream's side.
    upstream_unreachable, ///< Refused, no route, no such socket.
    upstream_timeout,     ///< Not accepted within backend-connect-timeout.
    upstream_reset,       ///< The upstream sent RST.

    // Our own.
    bad_proxy_header, ///< proxy-proxy: what came before TLS is no PROXY header.
    out_of_resources, ///< Descriptors or memory.
};

inline constexpr std::size_t close_reason_count =
    static_cast<std::size_t>(close_reason::out_of_resources) + 1;

/// is_good: nobody lost anything that the log should warn of. A client that hides the end of its
/// stream, or a side that breaks, is worth a look.
[[nodiscard]] constexpr bool is_good(close_reason why) noexcept
{
    return why <= close_reason::stopped;
}

/// name_of is how logs and counters spell it: "client-reset".
[[nodiscard]] constexpr std::string_view name_of(close_reason r) noexcept
{
    switch (r) {
    case close_reason::done:
        return "done";
    case close_reason::client_silent:
        return "client-silent";
    case close_reason::idle_timeout:
        return "idle-timeout";
    case close_reason::linger_timeout:
        return "linger-timeout";
    case close_reason::stopped:
        return "stopped";
    case close_reason::handshake_timeout:
        return "handshake-timeout";
    case close_reason::handshake_failed:
        return "handshake-failed";
    case close_reason::client_reset:
        return "client-reset";
    case close_reason::client_gone:
        return "client-gone";
    case close_reason::client_truncated:
        return "client-truncated";
    case close_reason::client_failed:
        return "client-failed";
    case close_reason::upstream_unreachable:
        return "upstream-unreachable";
    case close_reason::upstream_timeout:
        return "upstream-timeout";
    case close_reason::upstream_reset:
        return "upstream-reset";
    case close_reason::bad_proxy_header:
        return "bad-proxy-header";
    case close_reason::out_of_resources:
        return "out-of-resources";
    }
    return "unknown";
}

} // namespace cleat::app
