// manual_pages: cleat(1), cleat.conf(5) and the completions, made from the configuration table and
// from the help of the subcommands.

#pragma once

#include <string>

namespace cleat::app {

/// manual_page is cleat(1), in the macros of man(7).
[[nodiscard]] std::string manual_page();

/// configuration_manual_page is cleat.conf(5).
[[nodiscard]] std::string configuration_manual_page();

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();

} // namespace cleat::app
