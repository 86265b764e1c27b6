#include "connect/connect_with_tls.hpp"
#include "connection/announce.hpp"
#include "connection/client_address.hpp"
#include "connection/connection_log.hpp"
#include "connection/end_without_upstream.hpp"
#include "connection/limited_client.hpp"
#include "connection/route_choice.hpp"
#include "connection/route_place.hpp"
#include "counts/close_reason.hpp"
#include "relay/plain_client.hpp"
#include "relay/relay.hpp"
#include "serve/serve_plaintext.hpp"
#include "upstream_tls/tls_upstream.hpp"
#include "upstream_tls/upstream_tls.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

// Sends `before` and the bytes of the client that have come by now, with the end of the handshake.
// The error: the client's connection has broken. Its end is left for the relay to find.
error_code send_first_of(
    plain_client& client, tls_upstream& upstream, std::string_view before, byte_counts& traffic)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    std::ranges::copy(std::as_bytes(std::span{before}), block.begin()); // There may be none.
    net::progress read;
    net::readiness::entry& entry = client.socket.entry();
    if (entry.readable()) {
        read = client.read(block.subspan(before.size()), limits::turn_min, entry.ended());
        if (read.next == net::wait::none) // No other event comes for the rest.
            entry.more_to_read();
    }
    if (read.error && read.error != error::closed)
        return read.error;
    traffic.add_up(read.bytes);
    send_first(upstream, block.first(before.size() + read.bytes));
    return {};
}

} // namespace

net::detached serve_plaintext(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer)
{
    config const& settings = service.configuration().settings;
    std::unique_ptr<inbound_header> proxy_header;
    // As in terminate: the log counts the connection, and the interrupt ends any wait below.
    connection_log log{frontend, peer, proxy_header};
    net::interrupt interrupt{service.worker()};

    // Admission, as of a client that speaks TLS.
    if (expects_proxy_header(settings, frontend.plan.admission.get())) {
        interrupt.expires_in(*settings.ssl_handshake_timeout, error::handshake_timeout);
        error_code const ec =
            co_await receive_proxy_header(interrupt, frontend, accepted, peer, proxy_header);
        if (ec)
            co_return log.proxy_header_failed(ec);
        interrupt.clear();
    }
    limited_client limited;
    if (error_code const ec = limited.admit(frontend, accepted, peer, proxy_header.get()))
        co_return log.refused(ec);
    planned_route const* const route = choose_for_plaintext(frontend, peer, proxy_header.get());
    route_place place;
    if (!find_place(frontend, route, {}, accepted, peer, proxy_header.get(), log, place))
        co_return;
    log.plaintext_begins();

    // Connect, with the handshake. The client's bytes wait in its socket.
    plain_client client{std::move(accepted)};
    destination to = destination_of(frontend, route, client.socket, peer, proxy_header.get());
    upstream_choice& choice = to.choice;
    placed_header header{
        choice, make_plain_announcement(to.rule, client.socket, peer, proxy_header.get())};
    tls_greeting const greeting{header.clear(), {}};
    result<tls_upstream> upstream = co_await connect_with_tls(
        interrupt, choice, greeting, *settings.backend_connect_timeout, log);
    if (!upstream) {
        client.socket.reset(); // A FIN would be a whole and empty answer.
        co_return log_without_upstream(upstream.error(), choice, log);
    }
    log.connected(choice.address());

    // Relay, as of a client that speaks TLS.
    try {
        error_code const broken = send_first_of(client, *upstream, header.inside(), log.traffic());
        header.bytes = {}; // A connection that stays keeps nothing of it.
        if (broken) {
            upstream->socket.reset();
            co_return log.ended(reason_for(phase::client_io, broken), broken);
        }
        relay_outcome const outcome = co_await relay(
            interrupt, client, *upstream, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(outcome.reason, outcome.error, nullptr, &upstream->channel.engine().failure());
    } catch (std::bad_alloc const&) { // While the choice still has the upstream's address.
        log.ran_out_of_memory();
        client.socket.reset();
        upstream->socket.reset();
    }
}

} // namespace cleat::app
