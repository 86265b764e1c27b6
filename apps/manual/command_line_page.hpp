// command_line_page: the description of a program whose command line is CLI11's.

#pragma once

#include "manual/manual.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace cleat::manual {

/// add_manual_flags adds --manual and --completion, which asked_text answers.
void add_manual_flags(CLI::App& app);

/// commands_of are the program of `app`, with an empty name, and its subcommands.
[[nodiscard]] std::vector<command> commands_of(CLI::App const& app);

/// add_choices gives the options of that name the words that a shell offers, beside their own.
void add_choices(
    std::vector<command>& commands, std::string_view name, std::vector<std::string> const& words);

/// asked_text is the manual page or the completion, where the words behind the program's name are
/// `--manual` or `--completion SHELL` alone. It is asked before CLI11, which would miss a
/// subcommand.
[[nodiscard]] std::optional<std::string> asked_text(
    page const& about, std::span<char const* const> arguments);

} // namespace cleat::manual
