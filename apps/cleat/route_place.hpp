// route_place: the place that a connection gets among those of its route.

#pragma once

#include "connection_log.hpp"
#include "frontend_socket.hpp"
#include "limits/limited_route.hpp"
#include "snapshot.hpp"

#include <cleat/net/socket.hpp>

#include <string_view>

namespace cleat::app {

/// find_place is for a client of the route, which may be null or have no limit. False: the route
/// has as many connections as it may, so the client is reset, and the log has it. The name is that
/// of SNI. Throws std::bad_alloc.
[[nodiscard]] bool find_place(
    frontend_socket const& frontend, planned_route const* route, std::string_view server_name,
    net::socket& accepted, connection_log& log, limited_route& place);

} // namespace cleat::app
