// supervise: what the main thread does while the workers serve: wait for signals and act on them.

#pragma once

#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "process.hpp"
#include "worker_group.hpp"

namespace cleat::app {

/// supervise returns when the worker_group has ended. SIGTERM: stop accepting, and let connections
/// finish for `shutdown-timeout`. SIGINT, or a second SIGTERM: end now. SIGUSR1: open the log file
/// anew.
void supervise(
    worker_group& workers, signals& from, config const& settings, log_sink& sink,
    logger const& log);

} // namespace cleat::app
