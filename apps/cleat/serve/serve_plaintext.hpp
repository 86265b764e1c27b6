// serve_plaintext: the life of a connection whose client speaks no TLS and whose upstream does.

#pragma once

#include "worker/frontend_socket.hpp"
#include "worker/worker_service.hpp"

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// serve_plaintext serves one client of a frontend that takes plaintext, as terminate does.
net::detached serve_plaintext(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer);

} // namespace cleat::app
