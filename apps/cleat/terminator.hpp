// terminator: the life of a connection, from accept to close. Read this first.

#pragma once

#include "worker/frontend_socket.hpp"
#include "worker/worker_service.hpp"

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// terminate serves one client: TLS on its side, plaintext or TLS to the upstream; or, on a
/// frontend with client = on, plaintext on its side and TLS to the upstream. The call returns when
/// the coroutine waits for the first time. The coroutine ends with the connection or the worker.
/// `service` and `frontend` outlive it.
net::detached terminate(
    worker_service& service, frontend_socket& frontend, net::socket accepted, net::address peer);

} // namespace cleat::app
