// check_route_settings: settings of routes that cannot take effect.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check_route_settings looks at what each route sets for its clients. Rules between settings of
/// TLS, which frontends have, too, are checked with theirs.
void check_route_settings(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
