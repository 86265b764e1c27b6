#include "frontend_socket.hpp"

#include <cleat/net/socket_options.hpp>

namespace cleat::app {

frontend_socket::frontend_socket(bound_socket const& bound) : context{bound.plan->tls}
{
    if (result<net::address> const local = net::local_address(bound.socket.get()))
        name = net::to_string(*local);
}

} // namespace cleat::app
