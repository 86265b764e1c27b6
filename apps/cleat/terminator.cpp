#include "announce.hpp"
#include "client_closing.hpp"
#include "client_side.hpp"
#include "connect.hpp"
#include "connection_log.hpp"
#include "handshake.hpp"
#include "relay.hpp"
#include "route_choice.hpp"
#include "terminator.hpp"
#include "upstream/upstream_choice.hpp"
#include "upstream_side.hpp"

#include <new>

namespace cleat::app {

net::detached terminate(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer)
{
    snapshot const& configuration = service.configuration();
    config const& settings = configuration.settings;
    std::string proxy_header;
    // Counts the connection, and logs its end when this coroutine ends.
    connection_log log{frontend, peer, proxy_header};
    // Ends any wait below: at the deadline that is set, or when the worker stops.
    net::interrupt interrupt{service.worker()};
    // Established connections are served before handshakes. The relay changes the priority.
    accepted.set_priority(net::priority::handshake);

    // PROXY header: a load balancer in front announces its client before TLS begins.
    interrupt.expires_in(*settings.ssl_handshake_timeout, error::handshake_timeout);
    if (*settings.announce == announcement::proxy_proxy) {
        error_code const ec = co_await receive_proxy_header(interrupt, accepted, proxy_header);
        if (ec)
            co_return log.proxy_header_failed(ec);
    }

    // Handshake, before the same deadline. Most clients that miss it are scanners.
    client_side client{std::move(accepted), net::channel{frontend.context}};
    log.handshake_begins(client.channel.engine());
    error_code const failed = co_await handshake(interrupt, client, service.certificates());
    if (failed)
        co_return log.handshake_failed(failed, client.channel.engine());
    log.handshake_done(client.channel.engine());
    client.ticket.begin();

    // Connect. The upstream's PROXY header and the client's first bytes leave in one send.
    std::span<std::byte const> const first =
        first_bytes(settings, client, peer, proxy_header, log.traffic());
    upstream_choice choice{
        choose_upstream(frontend, client.channel.engine(), peer, proxy_header), peer};
    result<upstream_side> upstream =
        co_await connect(interrupt, choice, first, *settings.backend_connect_timeout);
    if (!upstream) {
        log.connect_failed(upstream.error(), choice.name(), client.channel.engine());
        co_return co_await refuse_client(interrupt, client);
    }
    log.connected(choice.address());

    // Relay: copy both ways until both sides have closed, or one has broken.
    interrupt.clear();
    try {
        relay_outcome const outcome = co_await relay(
            interrupt, client, *upstream, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(outcome.reason, outcome.error, client.channel.engine());
    } catch (std::bad_alloc const&) {
        // The log has this end as out-of-resources. An RST, because a FIN would tell the upstream
        // that the client had sent all.
        upstream->socket.reset();
    }
}

} // namespace cleat::app
