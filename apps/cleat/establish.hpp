// establish: a client from its first byte of TLS until it is let in.

#pragma once

#include "client_side.hpp"
#include "connection_log.hpp"
#include "frontend_socket.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// establish is the handshake, before the deadline that is set, and the check of what the client's
/// certificate says. False: the client has failed or is refused, the log has it, and the connection
/// has ended. The arguments outlive the task.
net::task<bool> establish(
    net::interrupt& interrupt, frontend_socket const& frontend, client_side& client,
    connection_log& log);

} // namespace cleat::app
