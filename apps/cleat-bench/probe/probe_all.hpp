// probe_all: the subcommand, over one host or many.

#pragma once

#include "probe/probe_request.hpp"

namespace cleat::bench {

/// probe_all prints a page for one host, or a line for each of several, and gives the exit code: 1
/// if any could not be probed, or, with `strict`, was weak.
int probe_all(probe_request const& request);

} // namespace cleat::bench
