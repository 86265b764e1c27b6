// limited_client: counts a connection for the limits of its client, from its beginning to its end.

#pragma once

#include "worker/frontend_socket.hpp"
#include "limits/worker_limits.hpp"
#include "proxy/inbound_header.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>

namespace cleat::app {

/// check_open_connections is error::connection_limit where the worker has as many connections as it
/// may have, or error::frontend_connection_limit where the frontend on this worker has. Call it
/// before the connection is counted.
[[nodiscard]] error_code check_open_connections(frontend_socket const& frontend) noexcept;

/// limited_client gives the client's connection back when it ends. The frontend outlives it.
class limited_client
{
public:
    explicit limited_client(frontend_socket const& frontend) noexcept : frontend_{frontend} {}
    limited_client(limited_client&&) = delete;
    ~limited_client();

    /// admit is the error for a client that may not connect, because of the frontend's address
    /// lists or its own limits. The client gets a reset, and its socket is closed. A balancer's
    /// health check, and a client without an IP address, have no limits. Call it once. The header
    /// may be null.
    [[nodiscard]] error_code admit(
        net::socket& accepted, net::address const& peer, inbound_header const* header) noexcept;

private:
    [[nodiscard]] error_code check(net::address const& peer, inbound_header const* header) noexcept;
    [[nodiscard]] error_code count(net::address const& peer, inbound_header const* header) noexcept;

    frontend_socket const& frontend_;
    worker_limits::client_place place_{};
};

} // namespace cleat::app
