// measure: one scenario on one running server.

#pragma once

#include "compare/figures.hpp"
#include "compare/server.hpp"
#include "generate/load_spec.hpp"
#include "system/interruption.hpp"

namespace cleat::bench {

/// load_for is the load of a scenario on a server, with this number of transactions or messages.
[[nodiscard]] load_spec load_for(
    scenario_spec const& scenario, server const& running, std::uint64_t operations,
    std::size_t workers);

/// round_load is the load of one round, the same for all its servers.
struct round_load
{
    scenario_spec const& scenario;
    std::optional<double> rate; ///< Of an open loop, per second; unset: closed loop.
    std::uint64_t seed = 1;     ///< Of the arrivals.
};

/// measure warms a server up and runs the scenario on it. Throws interrupted.
[[nodiscard]] round_figures measure(
    round_load const& round, server& running, std::size_t client_workers, interruption& stop);

} // namespace cleat::bench
