// staircase: the attempted rate goes up step by step until the server breaks, as on a load
// appliance.

#pragma once

#include "commands/load.hpp"
#include "result/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// staircase_request: `cleat-bench staircase`: a load whose phases are the steps.
struct staircase_request
{
    load_request load;
    std::optional<double> server_cpu; ///< Cores that the server's processes may use meanwhile.
};

/// stair is one step: the transactions that were meant to begin in it, with their ends, even if
/// those came after the step. Otherwise a step would lack the failures and delays of transactions
/// that take longer than it.
struct stair
{
    double rate = 0; ///< Asked, per second.
    std::chrono::nanoseconds length{};
    interval counts;
    std::uint64_t done = 0; ///< Transactions that ended well in the step, whenever they began.
    /// The shortest mean response of an interval so far, in this step or one below it: the response
    /// time without a queue. 0: no interval has had an answer.
    std::chrono::nanoseconds fastest{};
    std::uint64_t pending_before = 0; ///< Due and not ended when the step began, and when it ended.
    std::uint64_t pending_after = 0;
    double rate_before = 0; ///< Of the step before, per second.

    /// settled: all that began in it has ended.
    [[nodiscard]] bool settled() const noexcept;
    [[nodiscard]] double failed_share() const noexcept;
    [[nodiscard]] double response_ns() const noexcept; ///< The mean of those that were ok.
    [[nodiscard]] double done_rate() const noexcept;   ///< `done`, per second.
};

/// summit is the highest rate that meets a criterion, with all steps below it; unset: none does.
struct summit
{
    std::string criterion;
    std::optional<double> rate;
};

/// stairs_of cuts the timelines into the steps up to the one that broke the server. `timeline` has
/// each end in the interval in which it came, `by_start` in that of its transaction's start.
[[nodiscard]] std::vector<stair> stairs_of(
    std::vector<interval> const& timeline, std::vector<interval> const& by_start,
    std::vector<phase> const& phases, std::chrono::nanoseconds interval_length);

/// broken: the server is overloaded, and a higher rate would show nothing new. Over 5 % failed, the
/// mean response is beyond a second, or less than 7 transactions ended for 10 that began early
/// enough for the fastest answer to end in the step.
[[nodiscard]] bool broken(stair const& step) noexcept;

/// kept_up: no queue grew in the step. With the rate the number of transactions under way grows,
/// too, by the increase of the rate times the fastest response time. A step that does not keep up
/// leaves more than that under way, though it may be too short to break the server.
[[nodiscard]] bool kept_up(stair const& step) noexcept;

/// fault_of says why a step broke the server, or that it did not keep up; empty where it is good or
/// was cut off.
[[nodiscard]] std::string fault_of(stair const& step);

/// lost: the step ended `since_end` ago, and is broken whatever the outcome of its last
/// transactions.
[[nodiscard]] bool lost(stair const& step, std::chrono::nanoseconds since_end) noexcept;

/// summits finds the highest rates by the load appliance's criteria: mean response below 100 ms and
/// below 500 ms; failures below 0.01 % and below 0.1 %. A step that broke the server or did not
/// keep up meets none, nor does one that was cut off.
[[nodiscard]] std::vector<summit> summits(std::vector<stair> const& stairs);

/// knee is the last rate before queues form: every step up to it answers in at most three times the
/// shortest mean time of the first steps, and 99 of 100 transactions are ok.
[[nodiscard]] std::optional<double> knee(std::vector<stair> const& stairs);

/// staircase prints the steps and gives the exit code.
int staircase(staircase_request const& request);

} // namespace cleat::bench
