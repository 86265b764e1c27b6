#include "client_check.hpp"
#include "client_closing.hpp"
#include "establish.hpp"
#include "handshake.hpp"
#include "worker_service.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

net::task<bool> establish(
    net::interrupt& interrupt, frontend_socket const& frontend, client_side& client,
    connection_log& log)
{
    error_code const failed =
        co_await handshake(interrupt, client, frontend.service.certificates(), &log);
    if (failed) {
        log.handshake_failed(failed, client.channel.engine());
        co_return false;
    }
    error_code const refused = admit(frontend, client, log);
    if (refused)
        co_await refuse_client(interrupt, client, alert_for(refused));
    co_return !refused;
}

} // namespace cleat::app
