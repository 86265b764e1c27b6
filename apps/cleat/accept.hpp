// accept: connections from a listening socket into their coroutines.

#pragma once

#include "worker_service.hpp"

#include <cleat/net/task.hpp>

namespace cleat::app {

/// accept_from takes connections and starts a terminator for each, until its interrupt is raised.
/// Out of descriptors or memory, it pauses: what waits stays in the kernel's queue.
net::detached accept_from(worker_service& at, worker_service::acceptor& acceptor);

/// accept_waiting takes the connections that the kernel has queued already: closing their listening
/// socket would reset them.
void accept_waiting(worker_service& at, worker_service::acceptor& acceptor);

} // namespace cleat::app
