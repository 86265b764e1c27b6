// idle: what a connection costs that says nothing.

#pragma once

#include "commands/load.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cleat::bench {

/// do_idle: `cleat-bench idle`: connections that are opened and held.
struct do_idle
{
    do_load load;
    std::vector<unsigned> counts; ///< Ascending.
    std::chrono::nanoseconds settle{};
};

/// held is what the server's processes needed while so many connections were open.
struct held
{
    unsigned connections = 0;
    std::uint64_t bytes = 0; ///< PSS of all processes.
};

/// slope is bytes per connection: the least squares line through the points (at least two).
[[nodiscard]] double slope(std::vector<held> const& points) noexcept;

/// grew: from one level to the next the memory grew by more than a TLS connection can do without.
/// Where it did not, the server had the memory already, of connections that it served before.
[[nodiscard]] bool grew(held const& from, held const& to) noexcept;

/// telling are the points that tell what a connection costs: those that grew, and the one without
/// connections where the first of them did.
[[nodiscard]] std::vector<held> telling(std::vector<held> const& points);

/// cost_of is bytes per connection, of the points that tell; unset where there are not two.
[[nodiscard]] std::optional<double> cost_of(std::vector<held> const& points);

/// idle runs it, prints what it found, and gives the exit code.
int idle(do_idle const& wish);

} // namespace cleat::bench
