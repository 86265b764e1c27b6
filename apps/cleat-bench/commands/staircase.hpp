// staircase: the attempted rate goes up step by step until the server breaks, as a load appliance
// does it.

#pragma once

#include "commands/load.hpp"
#include "result/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// do_staircase: `cleat-bench staircase`: a load whose phases are the steps.
struct do_staircase
{
    do_load load;
};

/// stair is one step: the transactions that were meant to begin in it, and what came of them,
/// however late. Would they count where they end, those that a step leaves unfinished would be
/// nobody's failures and nobody's delay.
struct stair
{
    double rate = 0; ///< Asked, per second.
    std::chrono::nanoseconds length{};
    interval counts;
    std::uint64_t done = 0; ///< That ended well while the step lasted, whenever they began.
    /// The shortest mean response of an interval so far, in this step or one below it: what an
    /// answer takes where nothing waits. 0: there was none yet.
    std::chrono::nanoseconds fastest{};

    /// settled: all that began in it has ended.
    [[nodiscard]] bool settled() const noexcept;
    [[nodiscard]] double failed_share() const noexcept;
    [[nodiscard]] double response_ns() const noexcept; ///< The mean of those that were ok.
};

/// summit is the highest rate that meets a criterion, with all steps below it; unset: none does.
struct summit
{
    std::string criterion;
    std::optional<double> rate;
};

/// stairs_of cuts the timelines into the steps up to the one that broke the server: one timeline
/// with ends where they came, and one with ends where their transaction was meant to begin.
[[nodiscard]] std::vector<stair> stairs_of(
    std::vector<interval> const& timeline, std::vector<interval> const& by_start,
    std::vector<phase> const& phases, std::chrono::nanoseconds interval_length);

/// broken: nobody learns anything from a higher rate: over 5 % failed, the mean response is beyond
/// a second, or less than 7 transactions ended for 10 that began early enough for the fastest
/// answer to end in the step.
[[nodiscard]] bool broken(stair const& at) noexcept;

/// lost: it is over, for `since_end`, and it is broken whatever comes of the transactions that have
/// not ended yet.
[[nodiscard]] bool lost(stair const& at, std::chrono::nanoseconds since_end) noexcept;

/// summits finds the highest rates by the load appliance's criteria: mean response below 100 ms and
/// below 500 ms; failures below 0.01 % and below 0.1 %. A step that broke the server meets none,
/// nor does one that was cut off.
[[nodiscard]] std::vector<summit> summits(std::vector<stair> const& stairs);

/// knee is the last rate before queues form: every step up to it answers in at most three times the
/// shortest mean time of the first steps, and 99 of 100 transactions are ok.
[[nodiscard]] std::optional<double> knee(std::vector<stair> const& stairs);

/// staircase runs it, prints what it found, and gives the exit code.
int staircase(do_staircase const& wish);

} // namespace cleat::bench
