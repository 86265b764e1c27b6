// connection: a server's TLS stream, and what is known about its peer.

#pragma once

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <cstddef>

namespace cleat::net {

/// facts are the results of accept and of the handshake. The views in `tls` live as long as the
/// connection's stream, wherever it is moved to.
struct facts
{
    /// The addresses of the peer, and of this side.
    address peer;
    address local;
    std::size_t worker = 0;   ///< The number of the worker that serves it.
    tls::handshake_info tls;  ///< Version, suite, group, signature scheme, SNI, ALPN, resumed.
    std::size_t listener = 0; ///< 0 is that of server_spec::listen, n the nth of `listeners`.
};

/// connection is the argument of a server's handler: a stream whose handshake is done. It lives on
/// one worker, stream.next_layer().worker(), and its operations complete there. Its TLS context is
/// the one that the server had when it accepted the connection, and lives as long as the stream.
struct connection
{
    /// For reads, writes and the shutdown.
    net::stream<socket> stream;
    /// About the peer.
    net::facts facts;
};

} // namespace cleat::net
