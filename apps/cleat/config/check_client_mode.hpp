// Checks of client mode: frontends that take plaintext, and the backend's TLS.

#pragma once

#include "config/config.hpp"
#include "config/upstream_index.hpp"

#include <vector>

namespace cleat::app {

/// check_client_mode adds a problem for each mistake with `client`, and for each setting that it
/// leaves without effect.
void check_client_mode(upstream_index const& index, std::vector<problem>& problems);

/// any_ends_tls: TLS of clients ends at some frontend.
[[nodiscard]] bool any_ends_tls(config const& settings);

} // namespace cleat::app
