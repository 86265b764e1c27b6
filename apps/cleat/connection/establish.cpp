#include "connection/client_check.hpp"
#include "connection/client_closing.hpp"
#include "connection/establish.hpp"
#include "connection/handshake.hpp"
#include "connection/route_choice.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

net::task<bool> establish(
    net::interrupt& interrupt, frontend_socket const& frontend, planned_route const* settings,
    client_side& client, net::address const& peer, inbound_header const* proxy_header,
    handshake_phases::time_point hello, connection_log& log)
{
    error_code const failed =
        co_await handshake(interrupt, client, frontend.service.sources(), &log, hello);
    tls::engine const& engine = client.channel.engine();
    if (failed) {
        log.handshake_failed(failed, engine);
        co_return false;
    }
    error_code refused;
    if (has_kept_route(frontend, settings, engine, peer, proxy_header)) {
        refused = admit(policy_of(frontend, settings).plan->clients.get(), client, log);
    } else {
        refused = error::client_hello_changed;
        log.refused_by_route(refused, engine.info().server_name, {}, &engine);
    }
    if (refused)
        co_await refuse_client(interrupt, client, alert_for(refused));
    co_return !refused;
}

} // namespace cleat::app
