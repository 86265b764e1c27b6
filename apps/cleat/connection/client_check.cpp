#include "connection/client_check.hpp"

#include <cleat/tls/certificates/client_certificate.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <ctime>
#include <optional>
#include <string>

namespace cleat::app {

error_code check_shown(client_check const& check, tls::engine const& engine, connection_log& log)
{
    // A full handshake has verified the dates, and a session is older.
    bool const is_resumed = engine.info().resumed;
    if (!is_resumed && !check.has_rules)
        return {};
    std::optional<tls::client_certificate> const shown = tls::read_client_certificate(engine);
    if (!shown)
        return {};
    if (is_resumed && shown->valid_until < std::time(nullptr)) {
        log.refused(error::client_certificate_expired, engine, *shown, {});
        return error::client_certificate_expired;
    }
    if (!check.has_rules || check.rules.find(*shown) != nullptr)
        return {};
    log.refused(error::client_not_allowed, engine, *shown, check.rules.explain(*shown));
    return error::client_not_allowed;
}

} // namespace cleat::app
