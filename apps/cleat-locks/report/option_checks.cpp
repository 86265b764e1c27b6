#include "report/option_checks.hpp"

#include <CLI/CLI.hpp>

namespace cleat::locks {

void refuse_empty_name(
    CLI::App const& app, char const* subcommand, char const* option, bool is_empty)
{
    if (app.got_subcommand(subcommand) && app.get_subcommand(subcommand)->count(option) > 0 &&
        is_empty)
        throw CLI::ValidationError{option, "the name is empty"};
}

void check_window(window_times const& window)
{
    if (window.to && *window.to <= window.from.value_or(0))
        throw CLI::ValidationError{"--to", "it is not behind --from"};
}

} // namespace cleat::locks
