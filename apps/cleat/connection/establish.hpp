// establish: a client's handshake, and the checks after it.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/handshake_phases.hpp"
#include "proxy/inbound_header.hpp"
#include "relay/client_side.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// establish makes the handshake with the settings of a route, or of the frontend where `settings`
/// is null: see hello_route. The caller sets the deadline in `interrupt`. After the handshake it
/// checks the client's certificate, and that the client still belongs to this route. False: the
/// handshake failed or the client is refused; the log has a line about it, and the connection has
/// ended. `hello`: see handshake_phases. The header may be null. The arguments outlive the task.
net::task<bool> establish(
    net::interrupt& interrupt, frontend_socket const& frontend, planned_route const* settings,
    client_side& client, net::address const& peer, inbound_header const* proxy_header,
    handshake_phases::time_point hello, connection_log& log);

} // namespace cleat::app
