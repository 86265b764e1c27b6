// terminator: the life of a connection, from accept to close. Read this first.

#pragma once

#include "frontend_socket.hpp"
#include "worker_service.hpp"

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// terminate serves one client: TLS on its side, plaintext to the upstream. It begins with the
/// bytes that are there already and returns at its first wait; the connection then lives by itself
/// until it ends or its worker does. `service` and `frontend` outlive it.
net::detached terminate(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer);

} // namespace cleat::app
