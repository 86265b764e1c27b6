// tls_upstream: the upstream's side of a connection where the upstream speaks TLS.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/tls/server_sessions.hpp>

#include <cstddef>
#include <span>

namespace cleat::app {

/// tls_upstream has the calls of upstream_side that a relay makes. A handshake comes before them.
struct tls_upstream
{
    static constexpr bool is_tls = true;

    net::socket socket;
    net::channel channel;
    tls::server_sessions* sessions; ///< Of its server.
    error_code fault{};             ///< Once it is set, each read ends with it.

    /// has_more: bytes, or an end, for which no event comes.
    [[nodiscard]] bool has_more() const noexcept { return channel.unread() || fault; }
    [[nodiscard]] bool has_unsent() const noexcept { return channel.unsent(); }

    /// drop_unsent: no more bytes are sent. TLS keeps what it has, because its records have
    /// numbers.
    void drop_unsent() noexcept {}

    /// send encrypts and sends the bytes, with what the handshake has left to send. True: the
    /// socket is full. `ec` is set when the connection is broken, or memory is short.
    [[nodiscard]] bool send(std::span<std::byte const> bytes, error_code& ec) noexcept;

    /// flush sends what the socket did not take. True: the socket is full. `ec` as in send.
    [[nodiscard]] bool flush(error_code& ec) noexcept;

    /// close_send sends a close_notify: see flush. A FIN follows it.
    [[nodiscard]] bool close_send(error_code& ec) noexcept;

    /// read is net::channel's. It keeps the sessions that the server has issued.
    [[nodiscard]] net::progress read(
        std::span<std::byte> block, std::size_t turn, bool ended) noexcept;
};

/// send_first sends the end of the handshake, and then the first bytes: the header where it is
/// inside TLS, and the client's. The relay finds a socket that has broken, and an answer that came
/// before. Throws std::bad_alloc.
void send_first(tls_upstream& upstream, std::span<std::byte const> first);

} // namespace cleat::app
