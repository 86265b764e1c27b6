// close_reason: every way in which a connection can end, for the log and the counters.

#pragma once

#include <cleat/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

enum class close_reason : std::uint8_t
{
    // Ends that the log does not warn of: see is_good.
    done,          ///< Both sides closed cleanly.
    client_silent, ///< The client closed before its first byte: a health check, mostly.
    client_reset,  ///< The client sent RST: browsers do, when they need no more of an answer.
    idle_timeout,  ///< No byte either way for idle-timeout.
    stopped,       ///< The program ended.

    // The client's side.
    handshake_timeout, ///< No finished handshake within ssl-handshake-timeout.
    handshake_evicted, ///< Unfinished when descriptors or memory ran out: see half_open_list.
    handshake_shed,    ///< More waited than can be served in time: see handshake_line.
    handshake_failed,  ///< The log line has the reason.
    linger_timeout,    ///< The whole answer was sent, and the client did not close.
    client_gone,       ///< The client closed during the handshake.
    client_truncated,  ///< The client's FIN came without close_notify: bytes may be missing.
    client_failed,     ///< TLS broke on an established connection: bad record, fatal alert.
    stalled_evicted,   ///< Ended for max-memory, because one side took no bytes: see stalled_list.

    // The upstream's side.
    upstream_unreachable, ///< Refused, no route, no such socket.
    upstream_timeout,     ///< Not accepted within backend-connect-timeout.
    upstream_reset,       ///< The upstream sent RST.
    upstream_tls_failed,  ///< No server's TLS handshake succeeded; the log line has the reason.
    upstream_truncated,   ///< A TLS upstream's FIN came without close_notify: bytes may be missing.
    upstream_failed,      ///< TLS broke on an established connection: bad record, fatal alert.

    // Connections that are refused: the operator's lists and limits say so, and nothing has failed.
    untrusted_proxy,            ///< proxy-from does not have the peer's address.
    address_denied,             ///< deny-from has the client's address.
    address_not_allowed,        ///< allow-from does not have the client's address.
    memory_limit,               ///< max-memory: see memory_level.
    connection_limit,           ///< max-connections, in all.
    frontend_connection_limit,  ///< max-connections of the frontend.
    route_connection_limit,     ///< max-connections of the route.
    client_connection_limit,    ///< client-max-connections.
    client_handshake_limit,     ///< client-handshake-rate.
    client_not_allowed,         ///< client-allow has no rule that the client's certificate meets.
    client_certificate_expired, ///< The client resumes a session that is older than that.
    client_hello_changed,       ///< The client's second ClientHello is for another route.

    // Others.
    bad_proxy_header,    ///< proxy-proxy: the bytes before TLS are no PROXY header.
    local_ports_used_up, ///< Every local port to the upstream is in use.
    no_server,           ///< All servers of the upstream are drained, or have no address yet.
    servers_full,        ///< max-connections of each server of the upstream.
    out_of_resources,    ///< Descriptors or memory.
};

inline constexpr std::size_t close_reason_count =
    static_cast<std::size_t>(close_reason::out_of_resources) + 1;

/// is_good: the event connection-closed has the level info for this end, not warning. A PROXY
/// header, handshake or connect that fails has an event of its own instead, except for
/// client_silent.
[[nodiscard]] constexpr bool is_good(close_reason why) noexcept
{
    return why <= close_reason::stopped;
}

/// phase is the part of a connection's life in which it met an error.
enum class phase : std::uint8_t
{
    admission,    ///< Looking at the address, at limits, or at the client's certificate.
    proxy_header, ///< Receiving the PROXY header of proxy-proxy.
    first_byte,   ///< The handshake, before the client has sent a byte.
    handshake,    ///< The handshake, from the client's first byte on.
    connect,      ///< Connecting to the upstream.
    client_io,    ///< The relay reads from the client, or writes to it.
    upstream_io,  ///< The relay reads from the upstream, or writes to it.
    relay_wait,   ///< The relay waits for either side.
    linger_wait,  ///< The whole answer was sent, and the relay waits for the client to close.
};

/// reason_for is the close_reason of a connection that an error has ended in this phase.
[[nodiscard]] close_reason reason_for(phase where, error_code why) noexcept;

/// name_of is the name in logs and counters: "client-reset".
[[nodiscard]] std::string_view name_of(close_reason why) noexcept;

} // namespace cleat::app
