#include "route_place.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

bool find_place(
    frontend_socket const& frontend, planned_route const* route, std::string_view server_name,
    net::socket& accepted, connection_log& log, limited_route& place)
{
    if (route == nullptr || !route->limit)
        return true;
    worker_service const& service = frontend.service;
    bool const has_place = place.admit(
        service.connections().limits(), service.configuration().limits.routes[*route->limit]);
    if (!has_place) {
        log.refused_by_route(error::route_connection_limit, server_name, route->text);
        accepted.reset();
    }
    return has_place;
}

} // namespace cleat::app
