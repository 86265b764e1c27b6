// report_compare: what the report's page draws of a comparison, made from the comparison's document
// alone, so that one written years ago is drawn like one that has just ended.

#pragma once

#include "text/json.hpp"

#include <cstdint>
#include <vector>

namespace cleat::bench {

/// page_of gives a document of `compare` as the page wants it: figures of each round without the
/// generator's results, what those count in sum, and for each server the response's percentiles on
/// the grid, of the round in the middle. A document without histograms has no curves. Throws
/// std::runtime_error that says what is missing, or is not what it should be.
[[nodiscard]] json::object page_of(json::value const& compared, std::vector<double> const& grid);

/// most_values of one of its histograms, as the document says; for grid_for.
[[nodiscard]] std::uint64_t most_values(json::value const& compared);

/// servers_of are the names of all that were compared, in their order.
[[nodiscard]] std::vector<std::string> servers_of(json::value const& compared);

} // namespace cleat::bench
