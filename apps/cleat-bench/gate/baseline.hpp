// baseline: a run beside an earlier one, as a gate.

#pragma once

#include "gate/judgement.hpp"
#include "result/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// parse_tolerance reads --tolerance: "5%". Throws usage_error.
[[nodiscard]] double parse_tolerance(std::string const& text);

/// read_baseline reads the file of --baseline for a load of these settings, which is at `rate`, or
/// a closed loop. Throws usage_error that names the file, what is wrong with it and the cure: a
/// load of another kind or rate has no figures to compare with.
[[nodiscard]] result read_baseline(
    std::string const& path, std::vector<fact> const& asked, std::optional<double> rate);

/// judge_against compares rate, response percentiles, failures and the server's CPU with those of
/// the baseline. A figure that is worse by more than the tolerance fails, unless chance alone
/// explains the difference: the spread of the rate over the intervals of both runs, or that of a
/// percentile over its rank.
[[nodiscard]] std::vector<judgement> judge_against(
    result const& baseline, result const& found, double tolerance);

} // namespace cleat::bench
