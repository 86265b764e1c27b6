// route_choice: finds the route that takes a client, before TLS begins and after the handshake.

#pragma once

#include "config/route_settings.hpp"
#include "proxy/inbound_header.hpp"
#include "relay/client_side.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/net/channel.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

namespace cleat::app {

/// hello_route is what a ClientHello decides.
struct hello_route
{
    /// The first route that takes the client is a passthrough. Null: TLS ends here.
    planned_route const* passthrough = nullptr;
    /// The first route that takes the client as one without a certificate. Its TLS settings and its
    /// limit hold. Null: those of the frontend hold.
    planned_route const* settings = nullptr;
};

/// choose_by_hello: call it before TLS begins, for a frontend with routes. Throws std::bad_alloc.
[[nodiscard]] hello_route choose_by_hello(
    frontend_socket const& frontend, tls::hello_facts const& hello, net::address const& peer,
    inbound_header const* proxy_header);

/// choose_for_plaintext is the route of a client that speaks no TLS: its address decides. Null: no
/// route takes it. Throws std::bad_alloc.
[[nodiscard]] planned_route const* choose_for_plaintext(
    frontend_socket const& frontend, net::address const& peer, inbound_header const* proxy_header);

/// has_kept_route: the established client's route for TLS is still the one that its first
/// ClientHello has chosen. A second ClientHello, which answers a HelloRetryRequest, may name
/// another server although it must not. The arguments are those of choose_destination, and the
/// `settings` of the hello_route.
[[nodiscard]] bool has_kept_route(
    frontend_socket const& frontend, planned_route const* settings, tls::engine const& engine,
    net::address const& peer, inbound_header const* proxy_header);

/// destination is where a client goes, and what the upstream gets about it.
struct destination
{
    announcement_rule const& rule;
    upstream_choice choice;
};

/// choose_destination is the destination of the first route that takes the established client, or
/// else of the frontend. The proxy_header is the one that came before TLS, or null. Throws
/// std::bad_alloc.
[[nodiscard]] destination choose_destination(
    frontend_socket const& frontend, client_side const& client, net::address const& peer,
    inbound_header const* proxy_header);

/// destination_of is the destination of a route; null: of a client that no route takes. `client` is
/// the client's socket. Throws std::bad_alloc.
[[nodiscard]] destination destination_of(
    frontend_socket const& frontend, planned_route const* route, net::socket const& client,
    net::address const& peer, inbound_header const* proxy_header);

/// policy_of is the TLS policy of a hello_route's settings; null: of the frontend.
[[nodiscard]] tls_policy const& policy_of(
    frontend_socket const& frontend, planned_route const* settings) noexcept;

/// new_channel is a channel for a client with this policy.
[[nodiscard]] inline net::channel new_channel(
    frontend_socket const& frontend, planned_route const* settings)
{
    return net::channel{*policy_of(frontend, settings).context};
}

/// announcement_of is the announcement_rule of a route; null: of a client that no route takes.
[[nodiscard]] announcement_rule const& announcement_of(
    frontend_socket const& frontend, planned_route const* route) noexcept;

} // namespace cleat::app
