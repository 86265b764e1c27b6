#include "config/route_settings.hpp"
#include "config/tls_scope.hpp"

#include <algorithm>

namespace cleat::app {

std::vector<tls_scope> tls_scopes_of(config const& settings)
{
    std::vector<tls_scope> found{settings.frontends.begin(), settings.frontends.end()};
    for (frontend_config const& each : settings.frontends)
        for (route_config const& route : each.routes)
            if (has_tls_settings(route))
                found.emplace_back(each, route);
    return found;
}

bool asks_clients(config const& settings, tls_scope const& scope)
{
    if (takes_plaintext(settings, scope.frontend()))
        return false;
    auto const asks = [](pem_file const& pem) {
        return pem.client_verify && **pem.client_verify != client_verify::none;
    };
    client_verify const mode =
        *effective(scope.own(&frontend_config::client_verify), settings.client_verify);
    return mode != client_verify::none || std::ranges::any_of(scope.pem_files(), asks) ||
           (scope.uses_global_certs() && std::ranges::any_of(settings.pem_files, asks));
}

} // namespace cleat::app
