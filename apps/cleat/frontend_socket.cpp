#include "frontend_socket.hpp"

#include <cleat/net/socket_options.hpp>

namespace cleat::app {
namespace {

tls::context new_context(frontend_plan const& plan, tls::certificate_table* certificates)
{
    if (plan.certificates == nullptr)
        return tls::context{plan.tls};
    return tls::context{plan.tls, *plan.certificates, *certificates};
}

} // namespace

frontend_socket::frontend_socket(bound_socket const& bound)
    : context{new_context(*bound.plan, bound.certificates)}
{
    if (result<net::address> const local = net::local_address(bound.socket.get()))
        name = net::to_string(*local);
}

} // namespace cleat::app
