// The command line of `cleat ticket-secret`.

#pragma once

#include "command_line/command.hpp"

#include <span>
#include <string_view>

namespace cleat::app {

/// parse_ticket_secret reads the words behind `cleat ticket-secret`. The result is a
/// make_ticket_secret, a print_text or a refused.
[[nodiscard]] command parse_ticket_secret(
    std::string_view program, std::span<char const* const> arguments);

} // namespace cleat::app
