// status_json: everything that the admin server knows, in JSON. The status page gets it every few
// seconds.

#pragma once

#include "admin/metric_table.hpp"

#include <string>

namespace cleat::app {

/// status_json has the process, its workers, the certificates that end first, failures with their
/// last examples, the settings, and every metric. Its size is bounded, however many certificates
/// there are. Any thread; workers may write meanwhile.
[[nodiscard]] std::string status_json(metric_sources const& sources);

/// server_json is one server of an upstream.
[[nodiscard]] std::string server_json(known_server const& server);

} // namespace cleat::app
