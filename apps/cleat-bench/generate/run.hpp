// run: a load from its first start to its last end, on all workers.

#pragma once

#include "generate/load_spec.hpp"
#include "generate/tally.hpp"
#include "system/thread_times.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cleat::bench {

/// glimpse is what is known while a load runs.
struct glimpse
{
    std::chrono::nanoseconds since_begin{}; ///< Negative during the warm-up.
    std::uint64_t attempts = 0;
    std::uint64_t ok = 0;
    bench::failures failures;
    std::size_t in_flight = 0;
    latency response;
    latency slip;
    std::vector<interval> timeline;
    std::vector<interval> by_start; ///< Where load_spec::by_start asks for it.
    std::chrono::nanoseconds cpu{};
};

/// proceed is what who watches a run wants of it.
enum class proceed : std::uint8_t
{
    on,
    finish, ///< Begin no more, and let end what is under way.
    stop,   ///< End it at once.
};

/// conduct is how a run is watched and ended.
struct conduct
{
    std::optional<std::chrono::system_clock::time_point> start_at; ///< Unset: at once.
    std::function<proceed(glimpse const&)> watch; ///< Called every `every`; unset: nobody watches.
    std::chrono::milliseconds every{500};
    std::vector<int> server_pids; ///< Of the server here, whose CPU is to be read.
};

/// ended_run is what a run came to.
struct ended_run
{
    tally counts;
    std::vector<thread_times> workers;             ///< Each worker's, in the time `measured`.
    std::chrono::system_clock::time_point started; ///< Of what is counted: after the warm-up.
    /// From there on: in an open loop as long as transactions were meant to begin, whenever they
    /// ended; in a closed one to the last end. Until it was cut off, where it was; zero where that
    /// was before.
    std::chrono::nanoseconds measured{};
    std::chrono::nanoseconds drain{};      ///< From there to the last end.
    std::chrono::nanoseconds server_cpu{}; ///< Of what was counted, to the last end.
    double server_cores = 0;               ///< That the server kept busy in the time `measured`.
    bool partial = false;                  ///< Somebody ended it before its time.
    bool interrupted = false; ///< By a signal; or one came too late for that: end what comes next.
};

/// run_load runs it. SIGINT and SIGTERM end it early, with what there is. Throws tls::spec_error
/// and std::system_error before the first connection only, and std::runtime_error where start_at
/// has passed by then.
[[nodiscard]] ended_run run_load(load_spec const& use, conduct const& how = {});

/// ended_runs are two loads on one server at the same time.
struct ended_runs
{
    ended_run asked;  ///< The one that is of interest.
    ended_run beside; ///< The one that keeps the server busy meanwhile.
};

/// run_together runs two loads, each on threads of its own. The second begins in the middle of the
/// first one's warm-up, and what both count begins and ends at the same time: the second's own
/// warm_up and duration are not used. The first one's conduct says when it begins, and whose CPU is
/// read. Signals and exceptions as run_load.
[[nodiscard]] ended_runs run_together(
    load_spec const& use, load_spec beside, conduct const& how = {});

} // namespace cleat::bench
