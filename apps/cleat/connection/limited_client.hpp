// limited_client: counts a connection for the limits of its client, from its beginning to its end.

#pragma once

#include "limits/worker_limits.hpp"
#include "proxy/inbound_header.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>

namespace cleat::app {

/// check_open_connections is error::connection_limit where the worker has as many connections as it
/// may have, or error::frontend_connection_limit where the frontend on this worker has. Call it
/// before the connection is counted.
[[nodiscard]] error_code check_open_connections(frontend_socket const& frontend) noexcept;

/// limited_client is a client's connection in the worker's table of clients, which gets it back
/// when it ends. The worker's limits outlive it.
class limited_client
{
public:
    limited_client() = default;
    limited_client(limited_client&&) = delete;
    ~limited_client();

    /// admit is the error for a client that may not connect, because of the frontend's address
    /// lists or its own limits there. The client gets a reset, and its socket is closed. Call admit
    /// or count, once. The header may be null.
    [[nodiscard]] error_code admit(
        frontend_socket const& frontend, net::socket& accepted, net::address const& peer,
        inbound_header const* header) noexcept;

    /// count is the error for a client that has all that it may have in the scope, which is on. A
    /// balancer's health check, and a client without an IP address, have no limits.
    [[nodiscard]] error_code count(
        frontend_socket const& frontend, client_scope const& scope, net::address const& peer,
        inbound_header const* header) noexcept;

private:
    worker_limits* limits_ = nullptr; // Null: no table has the connection.
    worker_limits::client_place place_{};
};

} // namespace cleat::app
