// baseline: a run beside an earlier one, as a gate.

#pragma once

#include "gate/judgement.hpp"
#include "result/result.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// parse_tolerance reads --tolerance: "5%". Throws usage_error.
[[nodiscard]] double parse_tolerance(std::string const& text);

/// judge_against compares rate, response percentiles, failures and the server's CPU with those of
/// the baseline. What is worse by more than the tolerance fails, unless chance alone makes as much:
/// the spread of the rate over the intervals of both runs, and that of a percentile over its rank.
/// Throws std::runtime_error for loads of different kinds.
[[nodiscard]] std::vector<judgement> judge_against(
    result const& baseline, result const& found, double tolerance);

} // namespace cleat::bench
