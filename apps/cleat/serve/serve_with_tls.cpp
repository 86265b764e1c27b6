#include "connect/connect_with_tls.hpp"
#include "connection/announce.hpp"
#include "connection/end_without_upstream.hpp"
#include "relay/relay.hpp"
#include "serve/serve_with_tls.hpp"
#include "upstream_tls/tls_upstream.hpp"
#include "upstream_tls/upstream_tls.hpp"

#include <cleat/core/error.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace cleat::app {

net::task<> serve_with_tls(
    net::interrupt& interrupt, config const& settings, client_side& client, destination& chosen,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log)
{
    upstream_choice& choice = chosen.choice;
    placed_header header{choice, make_announcement(chosen.rule, client, peer, proxy_header)};
    tls_greeting const greeting{header.clear(), client.channel.engine().info().alpn};
    result<tls_upstream> upstream = co_await connect_with_tls(
        interrupt, choice, greeting, *settings.backend_connect_timeout, log);
    if (!upstream)
        co_return co_await end_without_upstream(interrupt, client, upstream.error(), chosen, log);
    log.connected(choice.address());
    try {
        send_first(*upstream, first_plaintext(client, header.inside(), log.traffic()));
        header.bytes = {}; // A connection that stays keeps nothing of it.
        relay_outcome const outcome = co_await relay(
            interrupt, client, *upstream, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(
            outcome.reason, outcome.error, &client.channel.engine(),
            &upstream->channel.engine().failure());
    } catch (std::bad_alloc const&) { // While the choice still has the upstream's address.
        log.ran_out_of_memory();
        upstream->socket.reset();
    }
}

} // namespace cleat::app
