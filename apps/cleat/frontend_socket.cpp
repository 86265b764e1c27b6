#include "frontend_socket.hpp"

#include <cleat/net/socket_options.hpp>

#include <utility>

namespace cleat::app {
namespace {

tls::context new_context(listener_plan const& plan, tls::certificate_table* certificates)
{
    if (plan.certificates == nullptr)
        return tls::context{plan.tls};
    return tls::context{plan.tls, *plan.certificates, *certificates};
}

} // namespace

frontend_socket::frontend_socket(net::worker& worker, bound_socket bound)
    : entry{new net::readiness::entry{
          worker.readiness(), std::move(bound.socket), net::readiness::entry::trigger::level}}
    , context{new_context(*bound.plan, bound.certificates)}
    , interrupt{worker}
{
    entry->set_priority(net::priority::handshake);
    if (result<net::address> const local = net::local_address(entry->fd()))
        name = net::to_string(*local);
}

} // namespace cleat::app
