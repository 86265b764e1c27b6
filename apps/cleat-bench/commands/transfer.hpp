// transfer: messages of one size over connections that stay, for bytes per second and CPU per byte.

#pragma once

#include "commands/command_line.hpp"

namespace cleat::bench {

/// transfer runs it, prints what it found, and gives the exit code.
int transfer(do_transfer const& wish);

} // namespace cleat::bench
