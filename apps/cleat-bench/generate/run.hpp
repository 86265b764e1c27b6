// run: a load from its first start to its last end, on all workers.

#pragma once

#include "generate/load_spec.hpp"
#include "generate/progress.hpp"
#include "generate/tally.hpp"
#include "system/thread_times.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cleat::bench {

/// proceed is the decision of a run's watch function.
enum class proceed : std::uint8_t
{
    go_on,
    finish, ///< Begin no more transactions, and let those under way end.
    stop,   ///< End the run at once.
};

/// run_control is how a run is watched and ended.
struct run_control
{
    std::optional<std::chrono::system_clock::time_point> start_at; ///< Unset: at once.
    bool may_be_late = false; ///< Where start_at has passed, the run begins at once.
    std::function<proceed(progress const&)> watch; ///< Called once a period; may be empty.
    std::chrono::milliseconds period{500};
    std::vector<int> server_pids; ///< Of a server on this machine, whose CPU is to be read.
};

/// ended_run is what a run measured.
struct ended_run
{
    tally counts;
    std::vector<thread_times> workers;             ///< Each worker's, in the time `measured`.
    std::chrono::system_clock::time_point started; ///< Of what is counted: after the warm-up.
    /// From `started` on: as long as transactions were meant to begin, whenever they ended. In a
    /// closed loop that ends by a number, to the last end; in a run that was cut off, to that
    /// moment, and zero if that was during the warm-up.
    std::chrono::nanoseconds measured{};
    std::chrono::nanoseconds drain{};      ///< From there to the last end.
    std::chrono::nanoseconds server_cpu{}; ///< From `started` to the last end.
    double server_cores = 0;               ///< That the server kept busy in the time `measured`.
    bool partial = false;                  ///< A signal ended the run before its time.
    /// A signal came, perhaps too late to end this run. The caller does no more work.
    bool interrupted = false;
};

/// run_load runs it. SIGINT and SIGTERM end it early; the result has what was measured until then.
/// Throws tls::spec_error and std::system_error before the first connection only, and
/// std::runtime_error where start_at has passed by then.
[[nodiscard]] ended_run run_load(load_spec const& spec, run_control const& control = {});

/// ended_runs are two loads on one server at the same time.
struct ended_runs
{
    ended_run foreground; ///< The one that is of interest.
    ended_run background; ///< The one that keeps the server busy meanwhile.
};

/// run_together runs two loads, each on threads of its own. The background begins in the middle of
/// the foreground's warm-up, and both count over the same time: warm_up and duration of the
/// background are not used. The control is the foreground's. Signals and exceptions as run_load.
[[nodiscard]] ended_runs run_together(
    load_spec const& foreground, load_spec background, run_control const& control = {});

} // namespace cleat::bench
