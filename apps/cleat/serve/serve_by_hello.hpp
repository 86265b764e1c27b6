// serve_by_hello: the connections whose ClientHello decides who speaks TLS with the client, and
// how: a passthrough's upstream, the answer to an ACME challenge, or cleat with a route's settings.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/handshake_phases.hpp"
#include "connection/route_place.hpp"
#include "overload/claim_credit.hpp"
#include "proxy/inbound_header.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/engine.hpp>

#include <utility>

namespace cleat::app {

/// read_hello is what is known of a client before TLS begins here.
struct read_hello
{
    byte_queue bytes;                        ///< All that the socket had.
    planned_route const* settings = nullptr; ///< See hello_route.
    route_place place{};
    claim_credit* claim = nullptr; ///< See take_turn.
    handshake_phases::time_point time{};

    [[nodiscard]] handshake_phases::time_point came() const noexcept { return time; }

    void give_bytes(net::channel& channel) noexcept { channel.feed(std::move(bytes)); }

    /// give_claim_back: a client that has gone ahead has cost no signature.
    void give_claim_back() const noexcept
    {
        if (claim != nullptr)
            claim->give_back();
    }

    /// on_handshake_end gives back what a client has claimed that has resumed its session.
    void on_handshake_end(tls::engine const& engine) const noexcept
    {
        if (engine.info().resumed)
            give_claim_back();
    }
};

/// unread_hello takes its place on a frontend where TLS has the first byte.
struct unread_hello
{
    static constexpr planned_route const* settings = nullptr;

    static handshake_phases::time_point came() noexcept { return {}; }
    static void give_bytes(net::channel& /*channel*/) noexcept {}
    static void on_handshake_end(tls::engine const& /*engine*/) noexcept {}
};

/// reads_hello_first: the frontend may have such connections, or routes with settings.
[[nodiscard]] bool reads_hello_first(frontend_socket const& frontend) noexcept;

/// serve_by_hello reads the ClientHello, within the deadline that is set, and serves the connection
/// where a passthrough route takes the client, or else where it is an ACME challenge's. A client
/// beyond a limit of its route is reset. True: the connection has ended, and the log has it.
/// False: TLS begins here, with what `hello` has, and the socket is still the caller's. The header
/// may be null. The arguments outlive the task.
net::task<bool> serve_by_hello(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log,
    read_hello& hello);

} // namespace cleat::app
