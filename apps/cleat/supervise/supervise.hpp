// supervise: the main thread's loop while the workers serve. It acts on signals and commands.

#pragma once

#include "process/control_socket.hpp"
#include "process/notify_socket.hpp"
#include "process/process.hpp"
#include "reload/candidate.hpp"
#include "workers/worker_group.hpp"

namespace cleat::app {

/// supervise returns when the workers have ended. SIGHUP, `cleat reload` and `POST /reload`: read
/// the configuration and everything that it names again, and serve with it, or say why it cannot be
/// used. SIGTERM and `POST /drain`: /readyz turns; after `drain-delay` stop accepting, and give
/// connections `shutdown-timeout` to finish. Another SIGTERM begins the next of these steps.
/// SIGINT: end now. SIGUSR1: open the log files again. SIGUSR2: only log it. When the process that
/// opens root's files ends, the log says so, and so does every reload.
void supervise(
    worker_group& workers, signals& arrived, notify_socket const& notify,
    control_socket const& control, start_facts const& start);

} // namespace cleat::app
