// as_host: `load --as-host`, one of several hosts, led over standard input and output.

#pragma once

#include "commands/load.hpp"

namespace cleat::bench {

/// load_as_host prepares the load, says so, begins at the time that its input names, writes its
/// progress, and ends with its document. A `stop` and the end of its input end the load. Gives the
/// exit code: 0 where the document was written. Throws std::runtime_error and interrupted before
/// the load.
int load_as_host(load_request const& request);

} // namespace cleat::bench
