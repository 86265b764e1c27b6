#include "connect/connect.hpp"
#include "connection/announce.hpp"
#include "connection/client_address.hpp"
#include "connection/connection_log.hpp"
#include "connection/end_without_upstream.hpp"
#include "connection/establish.hpp"
#include "connection/limited_client.hpp"
#include "connection/route_choice.hpp"
#include "relay/client_side.hpp"
#include "relay/relay.hpp"
#include "relay/upstream_side.hpp"
#include "serve/serve_by_hello.hpp"
#include "serve/serve_plaintext.hpp"
#include "serve/serve_with_tls.hpp"
#include "terminator.hpp"
#include "worker/worker_connections.hpp"

#include <cleat/core/limits.hpp>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace cleat::app {
namespace {

// The life of a connection, in four versions. With ReadsHelloFirst cleat reads the ClientHello
// before TLS begins; with HasTlsUpstream an upstream of the frontend speaks TLS. A version without
// one of these has no room for it in the coroutine's frame, which each connection owns. The log
// counts the connection, and writes lines about it. The interrupt ends any wait.
template <bool ReadsHelloFirst, bool HasTlsUpstream>
net::detached serve_connection(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer)
{
    config const& settings = service.configuration().settings;
    std::unique_ptr<inbound_header> proxy_header;
    connection_log log{frontend, peer, proxy_header};
    net::interrupt interrupt{service.worker()};

    // Admission, by the address of the peer, or of the client that a PROXY header names.
    interrupt.expires_in(*settings.ssl_handshake_timeout, error::handshake_timeout);
    if (expects_proxy_header(settings, frontend.plan.admission.get())) {
        error_code const ec =
            co_await receive_proxy_header(interrupt, frontend, accepted, peer, proxy_header);
        if (ec)
            co_return log.proxy_header_failed(ec);
    }
    limited_client limited;
    if (error_code const ec = limited.admit(frontend, accepted, peer, proxy_header.get()))
        co_return log.refused(ec);

    // ClientHello, before the same deadline: passthrough, ACME challenge, or settings of a route?
    std::conditional_t<ReadsHelloFirst, read_hello, unread_hello> hello;
    if constexpr (ReadsHelloFirst) {
        bool const ended = co_await serve_by_hello(
            interrupt, frontend, accepted, peer, proxy_header.get(), log, hello);
        if (ended)
            co_return;
    }

    // Handshake, before the same deadline. Most clients that miss it are scanners.
    client_side client{std::move(accepted), new_channel(frontend, hello.settings)};
    hello.give_bytes(client.channel);
    bool const is_let_in = co_await establish(
        interrupt, frontend, hello.settings, client, peer, proxy_header.get(), hello.came(), log);
    hello.on_handshake_end(client.channel.engine());
    if (!is_let_in)
        co_return;
    destination chosen = choose_destination(frontend, client, peer, proxy_header.get());
    if constexpr (HasTlsUpstream)
        if (chosen.choice.tls() != nullptr)
            co_return co_await serve_with_tls(
                interrupt, settings, client, chosen, peer, proxy_header.get(), log);

    // Connect. The upstream's PROXY header and the client's first bytes leave in one send.
    result<upstream_side> upstream = co_await connect(
        interrupt, chosen.choice,
        first_bytes(chosen.rule, client, peer, proxy_header.get(), log.traffic()),
        *settings.backend_connect_timeout);
    if (!upstream)
        co_return co_await end_without_upstream(interrupt, client, upstream.error(), chosen, log);
    log.connected(chosen.choice.address());

    // Relay until both sides have closed, or one has broken. Out of memory: RST to the upstream.
    try {
        relay_outcome const outcome = co_await relay(
            interrupt, client, *upstream, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(outcome.reason, outcome.error, &client.channel.engine());
    } catch (std::bad_alloc const&) { // The choice, which owns the logged address, ends before log.
        log.ran_out_of_memory();
        upstream->socket.reset();
    }
}

// Two reasons to read the ClientHello before TLS begins. Many clients wait in the kernel's queue:
// the ClientHello says which of them resume a session, and so go ahead. Or many handshakes are
// unfinished: a client that never sends a whole ClientHello costs less memory before TLS begins.
bool are_many_waiting(worker_connections& connections) noexcept
{
    return connections.line().is_crowded() ||
           connections.half_open().size() >= limits::half_open_many;
}

} // namespace

net::detached terminate(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer)
{
    accepted.set_priority(net::priority::handshake); // The relay changes it.
    if (frontend.plan.takes_plaintext)
        return serve_plaintext(service, frontend, std::move(accepted), peer);
    bool const hello_first = reads_hello_first(frontend) || are_many_waiting(service.connections());
    if (frontend.plan.has_tls_upstream)
        return hello_first
                   ? serve_connection<true, true>(service, frontend, std::move(accepted), peer)
                   : serve_connection<false, true>(service, frontend, std::move(accepted), peer);
    return hello_first
               ? serve_connection<true, false>(service, frontend, std::move(accepted), peer)
               : serve_connection<false, false>(service, frontend, std::move(accepted), peer);
}

} // namespace cleat::app
