// challenge_folder: the folder that acme-challenges names.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "privileged/opener.hpp"

#include <string>

namespace cleat::app {

/// find_challenge_folder is the folder's path from the root; empty: there is none. A
/// folder that cannot be opened is a problem. root_files opens what this process may not.
[[nodiscard]] std::string find_challenge_folder(
    config const& settings, problem_list& problems, opener const& root_files);

} // namespace cleat::app
