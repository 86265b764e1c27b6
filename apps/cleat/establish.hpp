// establish: a client from its first byte of TLS until it is let in.

#pragma once

#include "client_side.hpp"
#include "connection_log.hpp"
#include "frontend_socket.hpp"
#include "handshake_phases.hpp"
#include "proxy/inbound_header.hpp"
#include "snapshot.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// establish is the handshake, before the deadline that is set, by the settings of this route, or
/// those of the frontend where it is null: see hello_route. hello: see handshake_phases. The
/// client's certificate is checked then, and that the route is still the client's. False: the
/// client has failed or is refused, the log has it, and the connection has ended. The header may be
/// null. The arguments outlive the task.
net::task<bool> establish(
    net::interrupt& interrupt, frontend_socket const& frontend, planned_route const* settings,
    client_side& client, net::address const& peer, inbound_header const* proxy_header,
    handshake_phases::time_point hello, connection_log& log);

} // namespace cleat::app
