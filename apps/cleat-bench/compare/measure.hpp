// measure: one scenario on one server that runs.

#pragma once

#include "compare/figures.hpp"
#include "compare/server.hpp"
#include "generate/load_spec.hpp"
#include "system/interruption.hpp"

namespace cleat::bench {

/// load_for a scenario, of so many transactions or messages.
[[nodiscard]] load_spec load_for(
    scenario const& what, net::address const& to, std::uint64_t operations, std::size_t workers);

/// asked_of a server: a scenario, and the rate of an open loop, with the number that makes its
/// arrivals repeatable: the same for all servers of a round.
struct asked_of
{
    scenario const& what;
    std::optional<double> rate; ///< Per second; unset: closed loop.
    std::uint64_t seed = 1;
};

/// measure warms a server up and runs the scenario on it. Throws interrupted.
[[nodiscard]] round_figures measure(
    asked_of const& asked, server& on, std::size_t client_workers, interruption& stop);

} // namespace cleat::bench
