// fixed_settings: the keys that take effect at a start only.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// refuse_fixed appends an error for each key whose value a reload would change, and which takes
/// effect at a start only: the process's identity, and what it is made of.
void refuse_fixed(config const& running, config const& wanted, std::vector<problem>& problems);

} // namespace cleat::app
