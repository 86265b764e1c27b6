// probe_request: what `cleat-bench probe` was asked to do.

#pragma once

#include <string>
#include <vector>

namespace cleat::bench {

/// do_probe: `cleat-bench probe`.
struct do_probe
{
    std::vector<std::string> targets;
    std::string authorities; ///< A file; empty: the system's.
    std::string name;
    std::string timeout = "5s";
    unsigned parallel = 8; ///< Hosts at a time.
    std::string json;
    bool strict = false;
};

} // namespace cleat::bench
