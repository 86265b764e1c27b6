// outcome_json: how a reload has ended, for programs.

#pragma once

#include "reload/reload_outcome.hpp"

#include <string>

namespace cleat::app {

/// to_json is an object: whether the reload is done, how long it took, what has changed, and every
/// problem with its place and its cure.
[[nodiscard]] std::string to_json(reload_outcome const& outcome);

} // namespace cleat::app
