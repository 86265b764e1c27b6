// check_limits: the rules between the keys of limits.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check_limits reports limits that cannot take effect. The settings have their frontends and their
/// announcement.
void check_limits(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
