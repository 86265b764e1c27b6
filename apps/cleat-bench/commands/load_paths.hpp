// load_paths: the paths of a load's requests, as --path has them.

#pragma once

#include "generate/load_spec.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// check_path refuses a path that would end the request line too early. `option` is the option that
/// has the path.
void check_path(std::string const& option, std::string const& path);

/// read_paths gives the paths of texts of the form "PATH" or "PATH WEIGHT", without their requests;
/// without any text the target's path alone. Throws usage_error with what to write.
[[nodiscard]] std::vector<weighted_request> read_paths(
    std::vector<std::string> const& words, std::string const& path_of_target);

} // namespace cleat::bench
