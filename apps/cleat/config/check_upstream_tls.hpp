// check_upstream_tls: whether the settings of TLS to upstreams fit together.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check_upstream_tls adds a problem for each setting that does not fit. The announcement is chosen
/// already.
void check_upstream_tls(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
