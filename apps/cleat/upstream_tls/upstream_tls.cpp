#include "upstream_tls/upstream_tls.hpp"

#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/session.hpp>

#include <new>

namespace cleat::app {

net::channel new_channel(
    upstream_tls const& tls, std::string const& name, std::string_view client_protocol,
    tls::session const& offered)
{
    net::channel made{tls.context()};
    ssl_st* const ssl = made.engine().native_handle();
    if (!name.empty() && !tls::set_server_name(ssl, name))
        throw std::bad_alloc{};
    if (tls.plan().offers_clients_protocol && !client_protocol.empty() &&
        !tls::offer_protocol(ssl, client_protocol))
        throw std::bad_alloc{};
    if (offered)
        made.engine().resume(offered);
    return made;
}

} // namespace cleat::app
