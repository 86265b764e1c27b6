// route_place: counts a connection for the limits of its route.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/limited_client.hpp"
#include "limits/limited_route.hpp"
#include "proxy/inbound_header.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>

#include <string_view>

namespace cleat::app {

/// route_place is where the connection is counted: among those of its route, and among those that
/// its client has there.
struct route_place
{
    limited_route all{};
    limited_client client{};
};

/// find_place counts a client's connection for its route, which may be null or have no limit.
/// False: the route or the client has as much as it may have there, so the client was reset, and
/// the log has a line about it. server_name is the name in SNI. The header may be null. Throws
/// std::bad_alloc.
[[nodiscard]] bool find_place(
    frontend_socket const& frontend, planned_route const* route, std::string_view server_name,
    net::socket& accepted, net::address const& peer, inbound_header const* header,
    connection_log& log, route_place& place);

} // namespace cleat::app
