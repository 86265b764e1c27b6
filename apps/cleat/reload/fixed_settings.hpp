// fixed_settings: the keys that take effect at a start only.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// refuse_fixed appends an error for each key whose value a reload would change, and which takes
/// effect at a start only, such as the user or the number of workers. With `is_whole` false some
/// keys of `wanted` could not be read: one that is not there counts as unchanged.
void refuse_fixed(
    config const& running, config const& wanted, bool is_whole, std::vector<problem>& problems);

} // namespace cleat::app
