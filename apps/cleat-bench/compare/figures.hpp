// figures: what a comparison finds, as values that text, JSON and reports are made of.

#pragma once

#include "compare/scenario.hpp"
#include "compare/statistics.hpp"
#include "result/metric.hpp"
#include "result/result.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {

/// judged_by is what a scenario is about, and servers are judged by: memory of idle connections,
/// p99 at a rate and on established connections, and else CPU.
[[nodiscard]] metric judged_by(scenario const& of) noexcept;

/// round_figures is one round of one server.
struct round_figures
{
    std::array<std::optional<double>, metrics.size()> values;
    result load;                                 ///< Of the generator; without counts when idle.
    std::optional<result> beside;                ///< Of the company of established connections.
    std::vector<std::pair<double, double>> idle; ///< Connections, and bytes with so many.

    [[nodiscard]] std::optional<double>& operator[](metric what)
    {
        return values[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] std::optional<double> operator[](metric what) const
    {
        return values[static_cast<std::size_t>(what)];
    }
};

/// contender is a server in one scenario.
struct contender
{
    std::string name;
    std::string command;            ///< As it was last started.
    std::string config;             ///< As it was last used; empty where it needs none.
    std::string left_out;           ///< Why it was not measured, or not to the end; empty: it was.
    bool at_fault = false;          ///< Left out, though it should have run.
    std::optional<double> capacity; ///< Transactions per second, where a rate is a part of it.
    std::vector<std::string> complaints;
    std::vector<std::optional<round_figures>> rounds;

    /// column is a metric of all rounds.
    [[nodiscard]] std::vector<std::optional<double>> column(metric what) const;
    /// typical is the median of them, of rounds that have one.
    [[nodiscard]] std::optional<double> typical(metric what) const;
    [[nodiscard]] bool measured() const noexcept;
};

/// pace is what an open loop asked of every server.
struct pace
{
    double rate = 0;     ///< Transactions per second.
    std::string weakest; ///< The server whose capacity the rate is a part of; empty: it was given.
    double capacity = 0; ///< Of that server, per second; 0: the rate was given.
};

/// trial is a scenario with all its servers.
struct trial
{
    scenario what;
    std::optional<pace> asked; ///< Of a scenario with a rate, as soon as it is known.
    std::string skipped;       ///< Why nobody was measured; empty: they were.
    std::vector<contender> servers;
    std::string base; ///< With which the others are compared; empty: nobody was measured.

    [[nodiscard]] contender const* find(std::string_view name) const noexcept;
};

/// comparison is the whole of it.
struct comparison
{
    std::string command;
    std::chrono::system_clock::time_point started;
    bool partial = false;
    unsigned rounds = 0;
    unsigned workers = 0;
    std::vector<int> server_cores;
    std::vector<int> client_cores;
    std::vector<fact> environment;
    std::vector<fact> versions; ///< What each server says about itself.
    std::vector<fact> absent;   ///< Servers that are not here, and how they are had.
    std::vector<trial> trials;
    std::string base_asked;

    /// sound: every server that is here did what it was asked for, or cannot.
    [[nodiscard]] bool sound() const noexcept;
};

/// choose_base of a trial: the one that was asked for, where it was measured, or else the first
/// that was.
[[nodiscard]] std::string choose_base(trial const& of, std::string const& asked);

/// to_text is for people: settings of the servers, a table for each scenario, remarks.
[[nodiscard]] std::string to_text(comparison const& of);

/// table_of one scenario, with its remarks.
[[nodiscard]] std::string table_of(trial const& of, unsigned rounds);

/// to_json has everything: each round's figures with the generator's whole result.
[[nodiscard]] std::string to_json(comparison const& of);

} // namespace cleat::bench
