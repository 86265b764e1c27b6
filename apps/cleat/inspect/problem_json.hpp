// problem_json: a problem of a configuration, for programs.

#pragma once

#include "config/config.hpp"

#include <span>
#include <string>

namespace cleat::app {

/// problems_json is an array with an object for each problem: severity ("error" or "warning"),
/// place (source, line and column, or null), key, text and cure.
[[nodiscard]] std::string problems_json(std::span<problem const> problems);

} // namespace cleat::app
