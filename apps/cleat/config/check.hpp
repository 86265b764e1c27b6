// check: the rules between settings, once all are known: some exclude, need or complete others.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check completes a config (the default frontend, the one announcement) and appends what does not
/// fit together to `problems`. It looks at the settings only: no file is opened and no name looked
/// up.
void check(config& settings, std::vector<problem>& problems);

} // namespace cleat::app
