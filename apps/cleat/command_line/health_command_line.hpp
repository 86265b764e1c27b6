// The command line of `cleat health`.

#pragma once

#include "command_line/command.hpp"

#include <span>
#include <string_view>

namespace cleat::app {

/// parse_health reads the words behind `cleat health`, and the configuration file that they name.
/// The result is an ask_health, a print_text or a refused.
[[nodiscard]] command parse_health(
    std::string_view program, std::span<char const* const> arguments);

} // namespace cleat::app
