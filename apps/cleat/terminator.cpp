#include "announce.hpp"
#include "connect.hpp"
#include "connection_log.hpp"
#include "handshake.hpp"
#include "relay.hpp"
#include "terminator.hpp"

#include <new>

namespace cleat::app {

net::detached terminate(
    worker_service& at, worker_service::acceptor& acceptor, net::socket accepted, net::address peer)
{
    config const& settings = at.current().settings;
    std::string proxy_header;
    // Ends with the line that says how the connection ended.
    connection_log told{at, acceptor.name, peer, proxy_header};
    net::interrupt by{at.worker()};
    // Until it is established, those that are go first.
    accepted.set_priority(net::priority::handshake);

    // A load balancer in front may tell who the client is, before TLS begins.
    by.expires_in(*settings.ssl_handshake_timeout, error::handshake_timeout);
    if (*settings.announce == announcement::proxy_proxy) {
        error_code const ec = co_await receive_proxy_header(by, accepted, proxy_header);
        if (ec)
            co_return told.proxy_header_failed(ec);
    }

    // The peer has a deadline to finish the handshake; most that miss it are scanners.
    client_side from{std::move(accepted), net::channel{acceptor.context}};
    error_code const failed = co_await handshake(by, from);
    if (failed)
        co_return told.handshake_failed(failed, from.channel.engine());
    told.handshake_done(from.channel.engine());
    from.ticket.begin();

    // Tell the upstream who is talking; what the client has said already goes in the same packet.
    std::span<std::byte const> const first =
        first_bytes(settings, from, peer, proxy_header, told.moved());
    result<upstream_side> to = co_await connect(
        by, at.line(), at.current().upstream, first, *settings.backend_connect_timeout);
    if (!to)
        co_return told.connect_failed(to.error());

    // Then get out of the way.
    by.clear();
    try {
        relay_outcome const how =
            co_await relay(by, from, *to, {.idle = *settings.idle_timeout}, told.moved());
        told.ended(how, from.channel.engine());
    } catch (std::bad_alloc const&) {
        to->socket.reset(); // It is not to take what it has got for all that there was.
    }
}

} // namespace cleat::app
