// config_template: a server's configuration with places for what a comparison decides.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace cleat::bench {

/// template_values are what @NAME@ stands for, by name. A name with an empty value is known, and is
/// absent for `#with`.
using template_values = std::map<std::string, std::string, std::less<>>;

/// fill_template puts values in the place of each @NAME@. A line "#with NAME: REST" becomes REST
/// where NAME has a value, and goes otherwise; "#without NAME: REST" the other way round: to every
/// server that is a comment, so a template is a sound configuration by itself. Throws
/// std::runtime_error that names origin, line and an unknown name.
[[nodiscard]] std::string fill_template(
    std::string_view text, std::string_view origin, template_values const& values);

/// without_comments leaves out comments and empty lines, for tables of settings.
[[nodiscard]] std::string without_comments(std::string_view config);

} // namespace cleat::bench
