// condition: the conditions that fail a run, on the command line: "p99 > 50ms, failed > 0.1%,
// resumed < 99%".

#pragma once

#include "gate/judgement.hpp"
#include "result/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cleat::bench {

/// gated_figure is a figure of a result that a condition can be about.
enum class gated_figure : std::uint8_t
{
    percentile, ///< ns of response, of all attempts.
    mean,       ///< ns of the responses that were ok.
    failed,     ///< Part of all attempts.
    resumed,    ///< Part of all handshakes.
    rate        ///< Transactions that were ok, per second.
};

/// condition fails a run where its figure is above its limit, or below it.
struct condition
{
    std::string text; ///< As it was written.
    gated_figure figure = gated_figure::percentile;
    double level = 0; ///< Of a percentile.
    bool above = true;
    bool or_equal = false;
    double limit = 0; ///< In ns, as a part, or per second.
};

/// parse_conditions reads a list with commas. Throws usage_error that names the part and the cure.
[[nodiscard]] std::vector<condition> parse_conditions(std::string const& text);

/// judge_condition says whether the condition fails the result. A percentile that is a failure's is
/// above every limit.
[[nodiscard]] judgement judge_condition(condition const& one, result const& found);

} // namespace cleat::bench
