// config_template: a server's configuration with placeholders for what a comparison sets.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace cleat::bench {

/// template_values has the value of each @NAME@. For `#with` an empty value counts as none.
using template_values = std::map<std::string, std::string, std::less<>>;

/// fill_template replaces each @NAME@ by its value. A line "#with NAME: REST" becomes REST if NAME
/// has a value, and is left out otherwise; "#without NAME: REST" the other way round. Servers
/// take both for comments, so a template is a sound configuration by itself. Throws
/// std::runtime_error that names origin, line and an unknown name.
[[nodiscard]] std::string fill_template(
    std::string_view text, std::string_view origin, template_values const& values);

/// without_comments leaves out comments and empty lines, for tables of settings.
[[nodiscard]] std::string without_comments(std::string_view config);

} // namespace cleat::bench
