#include "frontend_socket.hpp"

#include <cleat/net/socket_options.hpp>

#include <utility>

namespace cleat::app {

frontend_socket::frontend_socket(net::worker& worker, bound_socket bound)
    : entry{new net::readiness::entry{
          worker.readiness(), std::move(bound.socket), net::readiness::entry::trigger::level}}
    , context{bound.plan->tls}
    , interrupt{worker}
{
    entry->set_priority(net::priority::handshake);
    if (result<net::address> const local = net::local_address(entry->fd()))
        name = net::to_string(*local);
}

} // namespace cleat::app
