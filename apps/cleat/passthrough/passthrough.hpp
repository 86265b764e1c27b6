// passthrough: a connection whose TLS is the upstream's: the ClientHello is read, not answered, and
// handed on whole.

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

/// pass_through reads the ClientHello, within the deadline that is set, and serves the connection
/// where a passthrough route takes the client. True: the connection has ended, and the log has it.
/// False: TLS begins here, with the bytes of `read_before`, and the socket is still the caller's.
/// The frontend has routes. The header may be null. The arguments outlive the task.
net::task<bool> pass_through(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log,
    byte_queue& read_before);

} // namespace cleat::app
