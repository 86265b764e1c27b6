// check_client_limits: the rules for the limits of one client, beside those of widths.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check_client_limits reports limits that every frontend replaces, keys that refine a limit which
/// is not set, and limits where all clients share a balancer's address, because no PROXY header is
/// trusted for theirs. The settings have their frontends and their announcement.
void check_client_limits(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
