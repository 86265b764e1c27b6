// comparison: the data of the report's page for a comparison, made from its document alone, so that
// an old document is drawn like a new one.

#pragma once

#include "text/json.hpp"

#include <cstdint>
#include <vector>

namespace cleat::bench {

/// page_of is the page's data of a document of `compare`: the figures of each round, the counts of
/// all rounds, and for each server the percentiles of the response on the grid, of its median
/// round. A document without histograms has no curves. Throws std::runtime_error that names a
/// missing or wrong member.
[[nodiscard]] json::object page_of(json::value const& compared, std::vector<double> const& grid);

/// most_values is the largest count of its histograms, for grid_for.
[[nodiscard]] std::uint64_t most_values(json::value const& compared);

/// servers_of is the names of the compared servers, in their order.
[[nodiscard]] std::vector<std::string> servers_of(json::value const& compared);

} // namespace cleat::bench
