// secret_command: `cleat ticket-secret new`.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// write_ticket_secret prints a new secret, or writes it to a new file. The result is the exit
/// code. Throws std::system_error where the kernel gives no random bytes.
[[nodiscard]] int write_ticket_secret(make_ticket_secret const& request);

} // namespace cleat::app
