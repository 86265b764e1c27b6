#include "connect/connect.hpp"
#include "connection/announce.hpp"
#include "connection/client_address.hpp"
#include "connection/end_without_upstream.hpp"
#include "connection/plaintext_alert.hpp"
#include "connection/route_choice.hpp"
#include "relay/plain_client.hpp"
#include "relay/relay.hpp"
#include "relay/upstream_side.hpp"
#include "serve/passthrough.hpp"
#include "worker/upstream_choice.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace cleat::app {

net::task<> pass_through(
    net::interrupt& interrupt, frontend_socket const& frontend, planned_route const& route,
    net::socket& accepted, net::address const& peer, inbound_header const* proxy_header,
    connection_log& log, received_hello& hello)
{
    log.passthrough_begins(hello.reader.facts().server_name, hello.reader.message());
    config const& settings = frontend.service.configuration().settings;
    plain_client client{std::move(accepted)};
    destination to = destination_of(frontend, &route, client.socket, peer, proxy_header);
    upstream_choice& choice = to.choice;
    std::span<std::byte const> const first = first_bytes_of_passthrough(
        to.rule, client.socket, peer, proxy_header, hello.reader.facts().server_name,
        hello.bytes.front());
    log.traffic().add_up(hello.bytes.size());
    result<upstream_side> connected =
        co_await connect(interrupt, choice, first, *settings.backend_connect_timeout);
    if (!connected) {
        log_without_upstream(connected.error(), choice, log);
        send_plaintext_alert(client.socket, alert_internal_error);
        co_return;
    }
    log.connected(choice.address());
    hello = {}; // A connection that stays keeps nothing of it.

    try {
        relay_outcome const outcome = co_await relay(
            interrupt, client, *connected, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(outcome.reason, outcome.error);
    } catch (std::bad_alloc const&) { // While the choice still has the upstream's address.
        log.ran_out_of_memory();
        connected->socket.reset();
    }
}

} // namespace cleat::app
