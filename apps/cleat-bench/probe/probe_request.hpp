// probe_request: the request of `cleat-bench probe`.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// probe_request: `cleat-bench probe`.
struct probe_request
{
    std::vector<std::string> targets;
    std::vector<std::string> fleet;
    std::string authorities; ///< A file; empty: the system's.
    std::string name;
    std::string timeout = "5s";
    unsigned parallel = 8; ///< Hosts at a time.
    std::string json;
    std::optional<unsigned> warn_days; ///< Unset: by the certificate's lifetime.
    bool strict = false;
};

} // namespace cleat::bench
