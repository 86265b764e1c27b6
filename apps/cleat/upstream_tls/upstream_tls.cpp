#include "upstream_tls/upstream_tls.hpp"

#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/session.hpp>

#include <new>

namespace cleat::app {

net::channel new_channel(
    upstream_tls& tls, std::size_t server, std::string const& name,
    std::string_view client_protocol)
{
    net::channel made{tls.context()};
    ssl_st* const ssl = made.engine().native_handle();
    if (!name.empty() && !tls::set_server_name(ssl, name))
        throw std::bad_alloc{};
    if (tls.plan().offers_clients_protocol && !client_protocol.empty() &&
        !tls::offer_protocol(ssl, client_protocol))
        throw std::bad_alloc{};
    if (tls::session const known = tls.sessions(server).take())
        made.engine().resume(known);
    return made;
}

} // namespace cleat::app
