// transfer: messages of one size over connections that stay, for bytes per second and CPU per byte.

#pragma once

#include "commands/load.hpp"

#include <cstdint>

namespace cleat::bench {

/// transfer_request: `cleat-bench transfer`: a load of a fixed number of messages.
struct transfer_request
{
    load_request load;
    std::uint64_t size = 0; ///< Of a message, in bytes.
    bool up = false;
    bool down = false;
};

/// transfer runs it, prints what it found, and gives the exit code.
int transfer(transfer_request const& request);

} // namespace cleat::bench
