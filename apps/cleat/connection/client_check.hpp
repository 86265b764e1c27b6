// client_check: whether an established client is let in by what its certificate says.

#pragma once

#include "connection/connection_log.hpp"
#include "relay/client_side.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/core/error.hpp>
#include <cleat/tls/engine.hpp>

namespace cleat::app {

/// check_shown is check_certificate for a frontend that asks for certificates.
[[nodiscard]] error_code check_shown(
    client_check const& check, tls::engine const& engine, connection_log& log);

/// check_certificate is error::client_not_allowed where the certificate meets no rule, or
/// error::client_certificate_expired where the client resumes a session whose certificate has
/// expired. The log then has a line about it. A client that has shown no certificate is let in:
/// where one is required, the handshake has refused it. Where the check is null, the frontend asks
/// for no certificate. Throws std::bad_alloc.
[[nodiscard]] inline error_code check_certificate(
    client_check const* check, tls::engine const& engine, connection_log& log)
{
    return check == nullptr ? error_code{} : check_shown(*check, engine, log);
}

/// admit is check_certificate. It starts the ticket_timer of a client that is let in.
[[nodiscard]] inline error_code admit(
    client_check const* check, client_side& client, connection_log& log)
{
    error_code const refused = check_certificate(check, client.channel.engine(), log);
    if (!refused)
        client.ticket.begin();
    return refused;
}

/// alert_for is the alert for a client that check_certificate has refused.
[[nodiscard]] inline tls::fatal_alert alert_for(error_code why) noexcept
{
    return why == error::client_certificate_expired ? tls::fatal_alert::certificate_expired
                                                    : tls::fatal_alert::access_denied;
}

} // namespace cleat::app
