// idle: the memory of the server for an idle connection.

#pragma once

#include "commands/load.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cleat::bench {

/// idle_request: `cleat-bench idle`: connections that are opened and held.
struct idle_request
{
    load_request load;
    std::vector<unsigned> counts;      ///< Ascending.
    std::chrono::nanoseconds settle{}; ///< From the last handshake to reading the memory.
};

/// held is the memory of the server's processes while so many connections were open.
struct held
{
    unsigned connections = 0;
    std::uint64_t bytes = 0; ///< PSS of all processes.
};

/// slope is bytes per connection: the least squares line through the points (at least two).
[[nodiscard]] double slope(std::vector<held> const& points) noexcept;

/// grew: from one level to the next the memory grew by no less than TLS connections need. If it did
/// not, the server reused memory of connections that it had served before.
[[nodiscard]] bool grew(held const& before, held const& after) noexcept;

/// growing_points are the points that show the cost of a connection: those that grew, and the one
/// without connections if the first level grew.
[[nodiscard]] std::vector<held> growing_points(std::vector<held> const& points);

/// connection_bytes is the memory of a connection, computed from the growing points; unset where
/// there are not two.
[[nodiscard]] std::optional<double> connection_bytes(std::vector<held> const& points);

/// idle prints the levels and gives the exit code.
int idle(idle_request const& request);

} // namespace cleat::bench
