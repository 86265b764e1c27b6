// The command line of `cleat explain`.

#pragma once

#include "command_line/command.hpp"

#include <span>
#include <string_view>

namespace cleat::app {

/// parse_explain reads the words behind `cleat explain`. The result is an explain_client, a
/// print_text or a refused.
[[nodiscard]] command parse_explain(
    std::string_view program, std::span<char const* const> arguments);

} // namespace cleat::app
