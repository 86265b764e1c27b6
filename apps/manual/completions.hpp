// completions: a command line as the completions of the shells need it.

#pragma once

#include "manual/manual.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cleat::manual {

/// completed_command is what may stand behind the program, with an empty name, or a subcommand.
struct completed_command
{
    std::string name{};
    std::string summary{};
    std::vector<option> flags{};
    std::vector<option> places{}; ///< The positional words, in their order.
};

/// completed_commands are all of them. The first is the program itself.
[[nodiscard]] std::vector<completed_command> completed_commands(page const& about);

/// function_name is that of the shell's function. A function may have no hyphen in its name
/// everywhere.
[[nodiscard]] std::string function_name(std::string_view program);

} // namespace cleat::manual
