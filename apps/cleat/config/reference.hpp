// reference: the documentation that is made from the configuration table: the help text, the
// reference page and a file of all defaults.

#pragma once

#include <string>
#include <string_view>

namespace cleat::app {

/// help_text is what `--help` prints: at most 96 columns wide.
[[nodiscard]] std::string help_text(std::string_view program);

/// usage_text is the short form, for a command line that is empty.
[[nodiscard]] std::string usage_text(std::string_view program);

/// reference_markdown is docs/reference/configuration.md.
[[nodiscard]] std::string reference_markdown();

/// default_configuration is a configuration file that sets every key to its default, with its help
/// above it. A key without a default is a comment; one that is not built, or without effect, is
/// left out.
[[nodiscard]] std::string default_configuration();

} // namespace cleat::app
