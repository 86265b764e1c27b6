// line_cost: what it costs to take a lock whose cache line another core has.

#pragma once

namespace cleat::locks {

/// measure_line_ns is the time of one acquisition and release of a read-write lock by readers on
/// two cores, each of which takes the lock's cache line away from the other. It takes some
/// milliseconds. 0: there are not two cores for this process.
[[nodiscard]] double measure_line_ns();

} // namespace cleat::locks
