// figure_list: the key figures of a result, for tools that read tables: CSV, and the text that
// Prometheus reads.

#pragma once

#include "result/result.hpp"

#include <string>

namespace cleat::bench {

/// to_csv is a line of names and a line of values. Unknown figures are empty.
[[nodiscard]] std::string to_csv(result const& found);

/// to_prometheus is the text exposition format, for node_exporter's textfile collector or a
/// Pushgateway. Unknown figures are left out. Times are in seconds.
[[nodiscard]] std::string to_prometheus(result const& found);

} // namespace cleat::bench
