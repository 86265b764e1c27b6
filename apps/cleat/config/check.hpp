// check: the settings together, once every one is known: which exclude, need or complete another.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check completes a config (the default frontend, the one announcement) and appends what does not
/// fit together to `problems`. It looks at the settings only: no file is opened and no name looked
/// up.
void check(config& settings, std::vector<problem>& problems);

} // namespace cleat::app
