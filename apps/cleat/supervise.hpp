// supervise: the work of the main thread while the workers serve: it acts on signals and commands.

#pragma once

#include "control/control_socket.hpp"
#include "notify_socket.hpp"
#include "process.hpp"
#include "worker_group.hpp"

#include <string>
#include <vector>

namespace cleat::app {

/// supervise returns when the workers have ended. SIGHUP and `cleat reload`: read the configuration
/// and everything that it names again, and serve from it, or say why it cannot be used. SIGTERM:
/// stop accepting, and let connections finish for `shutdown-timeout`. SIGINT, or a second SIGTERM:
/// end now. SIGUSR1: open the log file again.
///
/// command_line and folder are those with which the program was started.
void supervise(
    worker_group& workers, signals& arrived, notify_socket const& notify,
    control_socket const& control, std::vector<std::string> const& command_line,
    std::string const& folder);

} // namespace cleat::app
