// The command line: from its words to the command that the program runs. It is hitch's, and with
// --compat=stud (or when the program is called stud) it is stud's.

#pragma once

#include "config/config.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cleat::app {

/// serve: print the warnings, and take traffic with these settings.
struct serve
{
    config settings;
    std::vector<problem> warnings;
    std::vector<std::string> command_line; ///< Its words, to read everything again.
};

/// check_only (`-t`): load what the settings name, report whether it would work, and end.
struct check_only
{
    config settings;
    std::vector<problem> warnings;
};

/// print_text: print the text and end with the exit code; to stdout where it is 0, else to stderr.
struct print_text
{
    std::string text;
    int exit_code = 0;
};

/// show_version: print the version and what the linked TLS library can do. The configuration side
/// does not know that library.
struct show_version
{
};

/// refused: print the problems to stderr and end with exit code 1. At least one of them is an
/// error.
struct refused
{
    std::vector<problem> problems;
};

/// command is what the program does.
using command = std::variant<serve, check_only, print_text, show_version, refused>;

/// parse_command_line reads a whole command line, the program's name first, with the configuration
/// file that it names. The file is applied first, then the flags in their order: they replace its
/// values, and add to the keys that can be given several times. Every mistake is reported, not only
/// the first.
[[nodiscard]] command parse_command_line(std::span<char const* const> arguments);

} // namespace cleat::app
