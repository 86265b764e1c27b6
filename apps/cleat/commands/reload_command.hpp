// reload_command: `cleat reload`, which makes a running cleat reload.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// reload_a_running_cleat waits for the outcome, prints it, and returns the program's exit code.
[[nodiscard]] int reload_a_running_cleat(reload_running const& request);

} // namespace cleat::app
