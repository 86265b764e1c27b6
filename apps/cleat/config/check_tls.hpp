// check_tls: settings of TLS and of clients' certificates that do not fit together, for each
// frontend and for each route that has some of its own.

#pragma once

#include "config/config.hpp"

#include <vector>

namespace cleat::app {

/// check_tls adds what is wrong with them. A mistake that several scopes inherit is reported once.
void check_tls(config const& settings, std::vector<problem>& problems);

} // namespace cleat::app
