// result: the figures of a run, as a document that is written, read, merged and drawn.

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

/// fact is one setting of a run, or one property of its machine: name and value.
using fact = std::pair<std::string, std::string>;

/// server_side is the CPU of the server's processes, where --server-pid names them.
struct server_side
{
    std::vector<int> pids;          ///< The processes named; their children count too.
    std::chrono::nanoseconds cpu{}; ///< From the warm-up's end to the last end.
    double cores = 0;               ///< Busy on average in the time `measured`.
};

/// verdict is whether the generator's machine limited the figures, and not the server.
struct verdict
{
    std::vector<std::string> limits; ///< Why the machine was the limit; empty: it was not.
    std::vector<std::string> cures;  ///< Advice, one for each limit.

    [[nodiscard]] bool client_limited() const noexcept { return !limits.empty(); }
};

/// load_host is one of the hosts of a load with --hosts.
struct load_host
{
    std::string name;
    std::string lost{};              ///< Why the figures are without it; empty: they have it.
    std::chrono::nanoseconds late{}; ///< From the agreed start to its own.
    std::chrono::nanoseconds clock_error{}; ///< The most by which its start is off beside this.
    bool copied = false;                    ///< It had a copy of cleat-bench for the run.
    bool limited = false;                   ///< Its machine limited its figures.
    std::uint64_t attempts = 0;
    std::uint64_t ok = 0;
    double rate = 0; ///< As result::rate.
};

/// result of `load`: everything that text, JSON and reports show comes from here.
struct result
{
    std::string name;    ///< The user's name for it.
    std::string command; ///< The command line, to be run again.
    std::string target;
    std::vector<fact> asked;
    std::vector<fact> environment;
    std::chrono::system_clock::time_point started;
    /// The time in which transactions were meant to begin; of a closed loop that ended by a number,
    /// the time to its last end.
    std::chrono::nanoseconds measured{};
    std::chrono::nanoseconds drain{}; ///< From there to the last end.
    bool partial = false;
    std::optional<double> rate_asked; ///< Per second, on average; unset: a closed loop.
    bool climbs = false; ///< A staircase: its rate goes up until the server does not keep up.

    tally counts;
    std::vector<std::chrono::nanoseconds> worker_cpu; ///< In the time `measured`.
    /// In which each was ready to run and had no core; empty: the kernel does not account for it.
    std::vector<std::chrono::nanoseconds> worker_waited;
    /// Between each worker's readings of its own times: `measured`, and how late the last one was.
    std::vector<std::chrono::nanoseconds> worker_wall;
    std::optional<server_side> server;
    std::vector<load_host> hosts; ///< Empty: a load on one machine, or merged by hand.
    bench::verdict verdict;

    /// hosts_lost is how many of the hosts have no part in the figures.
    [[nodiscard]] std::size_t hosts_lost() const noexcept;
    /// hosts_apart is how far apart the hosts may have begun, at most.
    [[nodiscard]] std::chrono::nanoseconds hosts_apart() const noexcept;
    /// rate is transactions that ended in the time `measured` and were ok, per second.
    [[nodiscard]] double rate() const noexcept;
    /// drain_rate is the same of the drain; 0 where nothing ended in it.
    [[nodiscard]] double drain_rate() const noexcept;
    /// times_messages_alone: responses are of WebSocket messages without the opening before them.
    /// On kept connections they count from when the message was due, and may have one in them.
    [[nodiscard]] bool times_messages_alone() const noexcept;
    /// opening_rate is WebSockets that were opened in the time `measured`, per second.
    [[nodiscard]] double opening_rate() const noexcept;
    /// kept_up: in the second half of an open loop no queue grew. A queue that grows does so for as
    /// long as the load lasts, and response times are then the run's length.
    [[nodiscard]] bool kept_up() const noexcept;
    /// busiest is the share of its time that the busiest worker was running.
    [[nodiscard]] double busiest() const noexcept;
    /// waited is the largest share of its time that a worker was ready to run and had no core.
    [[nodiscard]] double waited() const noexcept;
};

/// queue_grew: more transactions were pending after so many began than before, by more than chance
/// explains.
[[nodiscard]] bool queue_grew(
    double before, std::uint64_t after, std::uint64_t transactions) noexcept;

/// take_workers puts the times of the workers' threads into a result.
void take_workers(result& result, std::vector<thread_times> const& workers);

/// judge decides whether the generator's machine was the limit.
[[nodiscard]] verdict judge(result const& result);

/// overload_of says how far a load that did not keep up was behind, and the cure; empty where it
/// kept up.
[[nodiscard]] std::string overload_of(result const& result);

/// remarks_on has a line for each thing that the server did not do as asked, with the cure. The
/// first is that it did not keep up.
[[nodiscard]] std::vector<std::string> remarks_on(result const& result);

/// together is what several results have to have in common to be one load.
enum class together : std::uint8_t
{
    all_along, ///< They ran at the same time.
    the_begin, ///< They began at the same time: one whose number is used up ends before others.
};

/// merge adds up the results of several generators that ran at the same time: counts, histograms
/// and asked rates. Throws std::runtime_error for results of different settings, and for those that
/// did not run all along together. Of generators that were to begin together, and did not, the sum
/// is client-limited.
[[nodiscard]] result merge(
    std::vector<result> const& parts, together condition = together::all_along);

/// to_json has every member; from_json reads it back, or throws std::runtime_error with the reason.
[[nodiscard]] std::string to_json(result const& result);
[[nodiscard]] result from_json(std::string const& text, std::string const& origin);

/// to_text is for people.
[[nodiscard]] std::string to_text(result const& result);

} // namespace cleat::bench
