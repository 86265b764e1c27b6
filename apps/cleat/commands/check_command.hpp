// check_command: `cleat check`, which reports on the configuration and every certificate.

#pragma once

#include "command_line/command.hpp"

namespace cleat::app {

/// report_on_certificates prints the report and returns the program's exit code: 0 where nothing is
/// worse than a warning.
[[nodiscard]] int report_on_certificates(report_certificates const& request);

} // namespace cleat::app
