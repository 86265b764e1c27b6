// result: what a run found, as a document that is written, read again, added up and drawn.

#pragma once

#include "generate/tally.hpp"
#include "system/thread_times.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {

/// fact is one line of what was asked for, or of where it ran.
using fact = std::pair<std::string, std::string>;

/// server_side is what the server's processes used, where they were named and are on this machine.
struct server_side
{
    std::vector<int> pids;          ///< As they were named; their children count with them.
    std::chrono::nanoseconds cpu{}; ///< From the warm-up's end to the last end.
    double cores = 0;               ///< That were busy on average, in the time `measured`.
};

/// verdict says whether the figures are the server's.
struct verdict
{
    std::vector<std::string> limits; ///< Why this machine was the limit; empty: it was not.
    std::vector<std::string> cures;  ///< How to go on, one for each.

    [[nodiscard]] bool client_limited() const noexcept { return !limits.empty(); }
};

/// result of `load`: everything that text, JSON and reports show comes from here.
struct result
{
    std::string name;    ///< What the user calls it.
    std::string command; ///< The command line, to be run again.
    std::string target;
    std::vector<fact> asked;
    std::vector<fact> environment;
    std::chrono::system_clock::time_point started;
    /// An open loop's time, in which transactions were meant to begin; a closed one's to its last
    /// end.
    std::chrono::nanoseconds measured{};
    std::chrono::nanoseconds drain{}; ///< From there to the last end.
    bool partial = false;
    std::optional<double> rate_asked; ///< Per second, on average; unset: a closed loop.

    tally counts;
    std::vector<std::chrono::nanoseconds> worker_cpu; ///< In the time `measured`.
    /// In which each was ready to run and had no core; empty: the kernel does not tell.
    std::vector<std::chrono::nanoseconds> worker_waited;
    /// For which each has read these of itself: `measured`, and how late it came to that.
    std::vector<std::chrono::nanoseconds> worker_wall;
    std::optional<server_side> server;
    bench::verdict verdict;

    /// rate is what was achieved: transactions that were ok, per second.
    [[nodiscard]] double rate() const noexcept;
    /// busiest is the share of its time that the busiest worker was running.
    [[nodiscard]] double busiest() const noexcept;
    /// waited is the share of its time that a worker had to do and no core to do it on, of the one
    /// that had most of it.
    [[nodiscard]] double waited() const noexcept;
};

/// take_workers puts what the workers' threads were given into a result.
void take_workers(result& into, std::vector<thread_times> const& of);

/// judge finds out whether the generator's machine was the limit.
[[nodiscard]] verdict judge(result const& of);

/// remarks_on tells where the server did not do what was asked of it, and the cure: one line each.
[[nodiscard]] std::vector<std::string> remarks_on(result const& of);

/// merge adds up the results of several generators that ran at the same time: counts and histograms
/// exactly, rates asked in sum. Throws std::runtime_error for results that do not fit together, or
/// did not run together.
[[nodiscard]] result merge(std::vector<result> const& parts);

/// to_json is the whole of it; from_json reads it back. Throws std::runtime_error with what is
/// wrong.
[[nodiscard]] std::string to_json(result const& of);
[[nodiscard]] result from_json(std::string const& text, std::string const& origin);

/// to_text is for people.
[[nodiscard]] std::string to_text(result const& of);

} // namespace cleat::bench
