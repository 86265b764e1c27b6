// figures: the results of a comparison, from which text, JSON and reports are made.

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

/// judged_by is the metric by which a scenario judges servers: see judged_by of its kind.
[[nodiscard]] metric judged_by(scenario_spec const& scenario) noexcept;

/// round_figures is one round of one server.
struct round_figures
{
    std::array<std::optional<double>, metrics.size()> values;
    result load;                                 ///< Of the generator; no counts when idle.
    std::optional<result> beside;                ///< Of the load beside established connections.
    std::vector<std::pair<double, double>> idle; ///< Connections, and bytes with them.
    /// System calls by name, for an operation; the most frequent first. Of system_calls only.
    std::vector<std::pair<std::string, double>> calls;

    [[nodiscard]] std::optional<double>& operator[](metric what)
    {
        return values[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] std::optional<double> operator[](metric what) const
    {
        return values[static_cast<std::size_t>(what)];
    }
};

/// server_figures are those of a server in one scenario.
struct server_figures
{
    std::string name;
    std::string target;             ///< Of one that ran already, HOST:PORT; empty: it was started.
    std::string command;            ///< Of its last start.
    std::string config;             ///< Of its last start; empty: it has none.
    std::string left_out;           ///< Why it was not measured to the end; empty: it was.
    bool at_fault = false;          ///< Left out by a failure, not for what it does not support.
    std::optional<double> capacity; ///< Transactions per second, if the rate is a part of it.
    std::vector<std::string> complaints;
    std::vector<std::optional<round_figures>> rounds;

    /// column is a metric in each round.
    [[nodiscard]] std::vector<std::optional<double>> column(metric what) const;
    /// median of the rounds that have this metric; unset if none has.
    [[nodiscard]] std::optional<double> median(metric what) const;
    [[nodiscard]] bool measured() const noexcept;
    /// overloaded is in how many rounds it did not keep up with the rate.
    [[nodiscard]] std::size_t overloaded() const noexcept;
};

/// open_loop_rate is the same for every server of a scenario.
struct open_loop_rate
{
    double rate = 0;     ///< Transactions per second.
    std::string weakest; ///< The server whose capacity the rate is a part of; empty: rate given.
    double capacity = 0; ///< Of that server, per second; 0: rate given.
};

/// scenario_figures are those of all servers in one scenario.
struct scenario_figures
{
    scenario_spec scenario;
    std::optional<open_loop_rate> rate; ///< Of a scenario with a rate, once it is known.
    std::string skipped;                ///< Why no server was measured; empty: they were.
    std::vector<server_figures> servers;
    std::string base; ///< The server that others are compared with; empty: none was measured.

    [[nodiscard]] server_figures const* find(std::string_view name) const noexcept;
};

/// comparison is everything that `compare` found.
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
    std::vector<fact> versions; ///< Of each server, as it prints it.
    std::vector<fact> absent;   ///< Servers that are not installed, and how to get them.
    std::vector<scenario_figures> trials;
    std::string requested_base;

    /// has_fault: some server was left out by a failure of its own.
    [[nodiscard]] bool has_fault() const noexcept;
};

/// choose_base is the requested server if it was measured, else the first that was.
[[nodiscard]] std::string choose_base(scenario_figures const& trial, std::string const& requested);

/// to_text is the report: settings of the servers, a table for each scenario, remarks.
[[nodiscard]] std::string to_text(comparison const& found);

/// remarks_on a comparison hold for all its scenarios.
[[nodiscard]] std::vector<std::string> remarks_on(comparison const& found);

/// table_of one scenario, with its remarks.
[[nodiscard]] std::string table_of(scenario_figures const& trial, unsigned rounds);

/// to_json has everything: each round's figures with the generator's whole result.
[[nodiscard]] std::string to_json(comparison const& found);

} // namespace cleat::bench
