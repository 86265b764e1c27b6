#include "connection/client_address.hpp"
#include "connection/route_choice.hpp"
#include "worker/worker_service.hpp"

#include <cleat/tls/alpn.hpp>
#include <cleat/tls/certificates/client_certificate.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace cleat::app {
namespace {

// With a PROXY header the peer is a load balancer. A header without an address is of the balancer's
// own health check, which comes from the peer.
std::optional<ip_address> address_of(net::address const& peer, inbound_header const* proxy_header)
{
    bool const is_named = proxy_header != nullptr && proxy_header->has_addresses();
    std::span<std::uint8_t const> const bytes =
        unmapped(is_named ? ip_bytes(proxy_header->source) : address_bytes(peer));
    if (bytes.empty())
        return {};
    ip_address made{.is_ipv6 = bytes.size() == 16};
    std::ranges::copy(bytes, made.bytes.begin());
    return made;
}

// The first route that takes the client.
planned_route const* find_route(
    route_plan const& routes, route_question question, net::address const& peer,
    inbound_header const* proxy_header)
{
    if (routes.table.asks_for_clients())
        question.client = address_of(peer, proxy_header);
    std::optional<route_table::number> const chosen = routes.table.choose(question);
    return chosen ? &routes.routes[*chosen] : nullptr;
}

// The same once the client is established.
planned_route const* find_route_of(
    route_plan const& routes, tls::engine const& engine, net::address const& peer,
    inbound_header const* proxy_header)
{
    tls::handshake_info const info = engine.info();
    std::optional<tls::client_certificate> shown;
    if (routes.table.asks_for_certificates())
        shown = tls::read_client_certificate(engine);
    return find_route(
        routes,
        {.server_name = info.server_name,
         .agreed = info.alpn,
         .certificate = shown ? &*shown : nullptr,
         .is_established = true},
        peer, proxy_header);
}

} // namespace

tls_policy const& policy_of(frontend_socket const& frontend, planned_route const* settings) noexcept
{
    return settings == nullptr ? frontend.policy : frontend.service.policy(settings->tls);
}

announcement_rule const& announcement_of(
    frontend_socket const& frontend, planned_route const* route) noexcept
{
    return frontend.service.configuration()
        .announcements[route == nullptr ? 0 : route->announcement];
}

hello_route choose_by_hello(
    frontend_socket const& frontend, tls::hello_facts const& hello, net::address const& peer,
    inbound_header const* proxy_header)
{
    route_plan const& routes = *frontend.plan.routes;
    route_question question{
        .server_name = hello.server_name,
        .agreed = tls::choose_protocol(routes.protocols, hello.protocols).value_or(""),
        .offered = hello.protocols};
    planned_route const* found = find_route(routes, question, peer, proxy_header);
    if (found != nullptr && found->is_passthrough)
        return {.passthrough = found};
    // A client that shows no certificate.
    question.is_established = true;
    if (routes.has_settings && routes.table.asks_for_certificates())
        found = find_route(routes, question, peer, proxy_header);
    return {.settings = found};
}

planned_route const* choose_for_plaintext(
    frontend_socket const& frontend, net::address const& peer, inbound_header const* proxy_header)
{
    return frontend.plan.routes
               ? find_route(*frontend.plan.routes, {.is_established = true}, peer, proxy_header)
               : nullptr;
}

bool has_kept_route(
    frontend_socket const& frontend, planned_route const* settings, tls::engine const& engine,
    net::address const& peer, inbound_header const* proxy_header)
{
    if (!frontend.plan.routes || !frontend.plan.routes->has_settings)
        return true;
    tls::handshake_info const info = engine.info();
    return settings ==
           find_route(
               *frontend.plan.routes,
               {.server_name = info.server_name, .agreed = info.alpn, .is_established = true}, peer,
               proxy_header);
}

destination choose_destination(
    frontend_socket const& frontend, client_side const& client, net::address const& peer,
    inbound_header const* proxy_header)
{
    planned_route const* const found =
        frontend.plan.routes
            ? find_route_of(*frontend.plan.routes, client.channel.engine(), peer, proxy_header)
            : nullptr;
    return destination_of(frontend, found, client.socket, peer, proxy_header);
}

destination destination_of(
    frontend_socket const& frontend, planned_route const* route, net::socket const& client,
    net::address const& peer, inbound_header const* proxy_header)
{
    worker_upstream& upstream =
        route != nullptr ? frontend.service.upstream(route->upstream) : *frontend.upstream;
    return {
        announcement_of(frontend, route),
        upstream_choice{
            upstream,
            client_key(unmapped(client_bytes(frontend.plan.admission.get(), peer, proxy_header))),
            client.native_handle()}};
}

} // namespace cleat::app
