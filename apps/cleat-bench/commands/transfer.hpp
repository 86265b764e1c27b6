// transfer: messages of one size over connections that stay, for bytes per second and CPU per byte.

#pragma once

#include "commands/load.hpp"

#include <cstdint>

namespace cleat::bench {

/// do_transfer: `cleat-bench transfer`: a load of a fixed number of messages.
struct do_transfer
{
    do_load load;
    std::uint64_t size = 0; ///< Of a message.
    bool up = false;
    bool down = false;
};

/// transfer runs it, prints what it found, and gives the exit code.
int transfer(do_transfer const& wish);

} // namespace cleat::bench
