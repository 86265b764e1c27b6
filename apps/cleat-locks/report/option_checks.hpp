// option_checks: what CLI11 accepts and cleat-locks does not.

#pragma once

#include "report/window.hpp"

namespace CLI {
class App;
}

namespace cleat::locks {

/// refuse_empty_name throws CLI::ValidationError where the command was given, and with it the
/// option, whose name `is_empty`.
void refuse_empty_name(
    CLI::App const& app, char const* subcommand, char const* option, bool is_empty);

/// check_window throws CLI::ValidationError where --to is not behind --from.
void check_window(window_times const& window);

} // namespace cleat::locks
