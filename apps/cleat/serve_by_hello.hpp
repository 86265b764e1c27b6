// serve_by_hello: the connections whose ClientHello decides who speaks TLS with the client: a
// passthrough's upstream, or the answer to an ACME challenge.

#pragma once

#include "connection_log.hpp"
#include "frontend_socket.hpp"
#include "proxy/inbound_header.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// reads_hello_first: the frontend may have such connections.
[[nodiscard]] bool reads_hello_first(frontend_socket const& frontend) noexcept;

/// serve_by_hello reads the ClientHello, within the deadline that is set, and serves the connection
/// where a passthrough route takes the client, or else where it is an ACME challenge's. True: the
/// connection has ended, and the log has it. False: TLS begins here, with the bytes of
/// `read_before`, and the socket is still the caller's. The header may be null. The arguments
/// outlive the task.
net::task<bool> serve_by_hello(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log,
    byte_queue& read_before);

} // namespace cleat::app
