// staircase: the attempted rate goes up step by step until the server breaks, as a load appliance
// does it.

#pragma once

#include "command_line.hpp"
#include "result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// stair is one step: what was asked during it, and what came of it. Attempts count in the step
/// where they were meant to begin, ends in the step where they came.
struct stair
{
    double rate = 0; ///< Asked, per second.
    interval counts;

    [[nodiscard]] double failed_share() const noexcept;
    [[nodiscard]] double response_ns() const noexcept; ///< The mean of those that were ok.
};

/// summit is the highest rate that meets a criterion, with all steps below it; unset: none does.
struct summit
{
    std::string criterion;
    std::optional<double> rate;
};

/// stairs_of cuts a timeline into its steps.
[[nodiscard]] std::vector<stair> stairs_of(
    std::vector<interval> const& timeline, std::vector<phase> const& phases,
    std::chrono::nanoseconds interval_length);

/// broken: nobody learns anything from a higher rate: over 5 % failed, the mean response is beyond
/// a second, or less than 7 of 10 transactions ended in the step.
[[nodiscard]] bool broken(stair const& at) noexcept;

/// summits finds the highest rates by the load appliance's criteria: mean response below 100 ms and
/// below 500 ms; failures below 0.01 % and below 0.1 %.
[[nodiscard]] std::vector<summit> summits(std::vector<stair> const& stairs);

/// knee is the last rate before queues form: every step up to it answers in at most three times the
/// mean time of the first steps, and 99 of 100 transactions end.
[[nodiscard]] std::optional<double> knee(std::vector<stair> const& stairs);

/// staircase runs it, prints what it found, and gives the exit code.
int staircase(do_staircase const& wish);

} // namespace cleat::bench
