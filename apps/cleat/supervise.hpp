// supervise: the work of the main thread while the workers serve: it acts on signals.

#pragma once

#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "process.hpp"
#include "worker_group.hpp"

namespace cleat::app {

/// supervise returns when the workers have ended. SIGTERM: stop accepting, and let connections
/// finish for `shutdown-timeout`. SIGINT, or a second SIGTERM: end now. SIGUSR1: open the log file
/// again.
void supervise(
    worker_group& workers, signals& arrived, config const& settings, log_sink& sink,
    logger const& log);

} // namespace cleat::app
