// passthrough: a connection whose TLS the upstream ends: the ClientHello was read, and is forwarded
// unchanged.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/receive_hello.hpp"
#include "proxy/inbound_header.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// pass_through serves a connection of this route from the choice of a server to its end. `hello`
/// is complete, and empty afterwards. The header may be null. The arguments outlive the task.
net::task<> pass_through(
    net::interrupt& interrupt, frontend_socket const& frontend, planned_route const& route,
    net::socket& accepted, net::address const& peer, inbound_header const* proxy_header,
    connection_log& log, received_hello& hello);

} // namespace cleat::app
