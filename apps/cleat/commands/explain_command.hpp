// explain_command: `cleat explain`, which says what a client would get.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// explain prints the explanation, and returns the program's exit code: 0 where the configuration
/// is good.
[[nodiscard]] int explain(explain_client const& request);

} // namespace cleat::app
