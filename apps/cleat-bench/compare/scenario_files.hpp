// scenario_files: the scenarios that the program embeds, and those of the user.

#pragma once

#include "compare/scenario.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// scenario_names are those of the embedded scenarios, in order.
[[nodiscard]] std::vector<std::string> scenario_names();

/// find_scenario reads an embedded scenario by its name, or a file by its path, which has a slash
/// or ends in .scenario. Throws std::runtime_error that names the fault and the cure.
[[nodiscard]] scenario_spec find_scenario(std::string const& name_or_file);

} // namespace cleat::bench
