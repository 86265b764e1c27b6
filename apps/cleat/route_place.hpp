// route_place: counts a connection for the limit of its route.

#pragma once

#include "connection/connection_log.hpp"
#include "worker/frontend_socket.hpp"
#include "limits/limited_route.hpp"
#include "snapshot/snapshot.hpp"

#include <cleat/net/socket.hpp>

#include <string_view>

namespace cleat::app {

/// find_place counts a client's connection for its route, which may be null or have no limit.
/// False: the route has as many connections as it may have, so the client was reset, and the log
/// has a line about it. server_name is the name in SNI. Throws std::bad_alloc.
[[nodiscard]] bool find_place(
    frontend_socket const& frontend, planned_route const* route, std::string_view server_name,
    net::socket& accepted, connection_log& log, limited_route& place);

} // namespace cleat::app
