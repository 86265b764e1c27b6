// check_routes: upstream blocks, and the routes to them: which name nothing, and which can never
// be chosen.

#pragma once

#include "config/config.hpp"
#include "config/upstream_index.hpp"

#include <vector>

namespace cleat::app {

/// check_upstreams looks at the upstream blocks, and at the frontends and routes that name them.
void check_upstreams(upstream_index const& index, std::vector<problem>& problems);

/// check_routes looks at the conditions of each frontend's routes.
void check_routes(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
