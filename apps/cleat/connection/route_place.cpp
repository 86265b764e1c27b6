#include "connection/route_place.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {
namespace {

// The route comes first: a client that finds it full pays no token.
error_code count(
    frontend_socket const& frontend, std::size_t number, net::address const& peer,
    inbound_header const* header, route_place& place)
{
    worker_service const& service = frontend.service;
    frontend_limit const& limit = service.configuration().limits.routes[number];
    if (limit.connections != 0 && !place.all.admit(service.connections().limits(), limit))
        return error::route_connection_limit;
    client_scope const& clients = service.route_clients(number);
    return clients.is_on() ? place.client.count(frontend, clients, peer, header) : error_code{};
}

} // namespace

bool find_place(
    frontend_socket const& frontend, planned_route const* route, std::string_view server_name,
    net::socket& accepted, net::address const& peer, inbound_header const* header,
    connection_log& log, route_place& place)
{
    if (route == nullptr || !route->limit)
        return true;
    error_code const why = count(frontend, *route->limit, peer, header, place);
    if (why) {
        log.refused_by_route(why, server_name, route->text);
        accepted.reset();
    }
    return !why;
}

} // namespace cleat::app
