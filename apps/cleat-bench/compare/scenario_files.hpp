// scenario_files: the scenarios that the program carries, and those of the user's own.

#pragma once

#include "compare/scenario.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// scenario_names are those of scenarios/ as they were when this was built, in order.
[[nodiscard]] std::vector<std::string> scenario_names();

/// find_scenario takes a name, or the path of a file: what has a slash or ends in .scenario. Throws
/// std::runtime_error that says what is wrong and what to do.
[[nodiscard]] scenario find_scenario(std::string const& name_or_file);

} // namespace cleat::bench
