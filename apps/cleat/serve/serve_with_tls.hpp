// serve_with_tls: a client whose upstream speaks TLS, from the connect to the end.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/route_choice.hpp"
#include "proxy/inbound_header.hpp"
#include "relay/client_side.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// serve_with_tls connects the established client with a server of its destination, whose upstream
/// has TLS, and copies until the end. The header may be null. The arguments outlive the task.
net::task<> serve_with_tls(
    net::interrupt& interrupt, config const& settings, client_side& client, destination& chosen,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log);

} // namespace cleat::app
