// route_choice: the upstream that a client goes to.

#pragma once

#include "client_address.hpp"
#include "frontend_socket.hpp"
#include "proxy/inbound_header.hpp"
#include "snapshot.hpp"
#include "upstream/upstream_choice.hpp"
#include "upstream/worker_upstream.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

namespace cleat::app {

/// choose_route is the upstream of the first route that takes the established client, or else the
/// frontend's. The proxy_header is the one that came before TLS, or null. Throws std::bad_alloc.
[[nodiscard]] worker_upstream& choose_route(
    frontend_socket const& frontend, route_plan const& routes, tls::engine const& engine,
    net::address const& peer, inbound_header const* proxy_header);

/// choose_upstream begins the choice of a server of that upstream. The frontend may have no routes.
[[nodiscard]] inline upstream_choice choose_upstream(
    frontend_socket const& frontend, tls::engine const& engine, net::address const& peer,
    inbound_header const* proxy_header)
{
    worker_upstream& upstream =
        frontend.plan.routes
            ? choose_route(frontend, *frontend.plan.routes, engine, peer, proxy_header)
            : *frontend.upstream;
    return upstream_choice{
        upstream, client_key(client_bytes(frontend.plan.admission.get(), peer, proxy_header))};
}

/// choose_for_plaintext is choose_upstream for a client that speaks no TLS: its address decides.
[[nodiscard]] upstream_choice choose_for_plaintext(
    frontend_socket const& frontend, net::address const& peer, inbound_header const* proxy_header);

/// choose_passthrough is the upstream of the first route that takes the client, if that is a
/// passthrough; else null. The frontend has routes. Throws std::bad_alloc.
[[nodiscard]] worker_upstream* choose_passthrough(
    frontend_socket const& frontend, tls::hello_facts const& hello, net::address const& peer,
    inbound_header const* proxy_header);

} // namespace cleat::app
