// The command line: from its words to the command that the program runs. It is hitch's, and with
// --compat=stud (or when the program is called stud) it is stud's.

#pragma once

#include "command_line/command.hpp"

#include <cleat/core/file_opener.hpp>

#include <span>

namespace cleat::app {

/// parse_command_line reads a whole command line, the program's name first, with the configuration
/// file that it names. The file is applied first, then the flags in their order: they replace its
/// values, and add to the keys that can be given several times. Every mistake is reported, not only
/// the first. The opener opens the configuration file of a command that serves, where there is one.
[[nodiscard]] command parse_command_line(
    std::span<char const* const> arguments, file_opener const& opener = {});

} // namespace cleat::app
