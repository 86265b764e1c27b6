// reference: documents that are made from the configuration table: the reference page and a file of
// all defaults.

#pragma once

#include <string>

namespace cleat::app {

/// reference_markdown is docs/reference/configuration.md.
[[nodiscard]] std::string reference_markdown();

/// default_configuration is a configuration file that sets every key to its default, with its help
/// above it. A key without a default is a comment; one that is not built, or without effect, is
/// left out.
[[nodiscard]] std::string default_configuration();

} // namespace cleat::app
