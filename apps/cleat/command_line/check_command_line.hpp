// The command line of `cleat check`.

#pragma once

#include "command_line/command.hpp"

#include <span>
#include <string_view>

namespace cleat::app {

/// parse_check reads the words behind `cleat check`. The result is a report_certificates, a
/// print_text or a refused.
[[nodiscard]] command parse_check(std::string_view program, std::span<char const* const> arguments);

} // namespace cleat::app
