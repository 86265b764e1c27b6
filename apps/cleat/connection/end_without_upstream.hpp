// end_without_upstream: ends an established client whose upstream has no server that accepts.

#pragma once

#include "connection/client_closing.hpp"
#include "connection/connection_log.hpp"
#include "connection/route_choice.hpp"
#include "counts/close_reason.hpp"
#include "relay/client_side.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// log_without_upstream logs the failed connect, or that the client has left before there was one.
inline void log_without_upstream(
    error_code why, upstream_choice const& choice, connection_log& log,
    tls::engine const* engine = nullptr) noexcept
{
    if (choice.client_has_left())
        log.ended(reason_for(phase::client_io, why), why, engine);
    else
        log.connect_failed(why, choice.name(), engine);
}

/// end_without_upstream logs that, and refuses the client: see refuse_client.
[[nodiscard]] inline net::task<> end_without_upstream(
    net::interrupt& interrupt, client_side& client, error_code why, destination const& chosen,
    connection_log& log)
{
    log_without_upstream(why, chosen.choice, log, &client.channel.engine());
    return refuse_client(interrupt, client);
}

} // namespace cleat::app
