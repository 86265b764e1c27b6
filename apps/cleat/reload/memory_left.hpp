// memory_left: whether a reload leaves less memory for connections.

#pragma once

#include "snapshot/snapshot.hpp"

namespace cleat::app {

/// leaves_less_memory: after is a reload's configuration that has less memory for connections than
/// the one before: a lower max-memory, a larger certificate-cache or session-cache, or many more
/// certificates in memory. Other reloads, such as one for a renewed certificate, have to be
/// possible also while connections use most of the memory.
[[nodiscard]] bool leaves_less_memory(snapshot const& before, snapshot const& after);

} // namespace cleat::app
