// tls_plan_loading: makes the plan of TLS to an upstream from its block, and the files that it
// names.

#pragma once

#include "certificates/certificate_files.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "upstream_tls/upstream_tls.hpp"

#include <optional>

namespace cleat::app {

/// load_tls_plan is nothing where the upstream's servers speak no TLS, and where a file cannot be
/// read. A mistake in a file or a setting is an error in `problems`.
[[nodiscard]] std::optional<upstream_tls_plan> load_tls_plan(
    upstream_config const& upstream, certificate_files& files, problem_list& problems);

/// tls_name_of is the name that the certificate of a server must have; empty for a UNIX socket
/// without one.
[[nodiscard]] std::string tls_name_of(
    upstream_config const& upstream, upstream_server const& server);

} // namespace cleat::app
