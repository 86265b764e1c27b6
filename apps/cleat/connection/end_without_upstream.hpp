// end_without_upstream: ends an established client whose upstream has no server that accepts.

#pragma once

#include "connection/client_closing.hpp"
#include "connection/connection_log.hpp"
#include "connection/route_choice.hpp"
#include "relay/client_side.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// end_without_upstream logs the failed connect, and refuses the client: see refuse_client.
[[nodiscard]] inline net::task<> end_without_upstream(
    net::interrupt& interrupt, client_side& client, error_code why, destination const& chosen,
    connection_log& log)
{
    log.connect_failed(why, chosen.choice.name(), &client.channel.engine());
    return refuse_client(interrupt, client);
}

} // namespace cleat::app
