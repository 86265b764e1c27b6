// health_command: `cleat health`, which asks the admin server of a running cleat for its health.
// A container without a shell has no other client.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// ask_for_health prints the answer, and returns the program's exit code. A server that does not
/// answer within limits::admin_request_time is not healthy.
[[nodiscard]] int ask_for_health(ask_health const& request);

} // namespace cleat::app
