// curves: histograms as curves of percentiles, all of a page over the same points.

#pragma once

#include "generate/tally.hpp"
#include "text/json.hpp"

#include <cstdint>
#include <vector>

namespace cleat::bench {

/// grid_for gives the points of all curves as 1/(1-p): from 1 to just beyond count, equally many in
/// each power of ten, and no more than a screen shows.
[[nodiscard]] std::vector<double> grid_for(std::uint64_t count);

/// curve_of reads the grid's percentiles in nanoseconds: the same values as histogram::percentile,
/// in one pass. The last is the maximum; of few values a curve is shorter than the grid. `all` is
/// the number of values with those that are missing, which are beyond every other: the curve ends
/// before them. 0: none is missing.
[[nodiscard]] json::array curve_of(
    latency const& times, std::vector<double> const& grid, std::uint64_t all = 0);

} // namespace cleat::bench
