// The command line of `cleat reload`.

#pragma once

#include "command_line/command.hpp"

#include <span>
#include <string_view>

namespace cleat::app {

/// parse_reload reads the words behind `cleat reload`. The result is a reload_running, a print_text
/// or a refused.
[[nodiscard]] command parse_reload(
    std::string_view program, std::span<char const* const> arguments);

} // namespace cleat::app
