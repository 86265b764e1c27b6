// idle: what a connection costs that says nothing.

#pragma once

#include "command_line.hpp"

#include <cstdint>
#include <vector>

namespace cleat::bench {

/// held is what the server's processes needed while so many connections were open.
struct held
{
    unsigned connections = 0;
    std::uint64_t bytes = 0; ///< PSS of all processes.
};

/// slope is bytes per connection: the least squares line through the points (at least two).
[[nodiscard]] double slope(std::vector<held> const& points) noexcept;

/// idle runs it, prints what it found, and gives the exit code.
int idle(do_idle const& wish);

} // namespace cleat::bench
