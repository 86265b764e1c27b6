// serve: one server, started as `compare` would, for whoever wants to ask it something else.

#pragma once

#include "compare/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::bench {

/// do_serve: `cleat-bench serve`.
struct do_serve
{
    std::string server; ///< Name of a preset.
    scenario what;
    unsigned workers = 1;
    std::vector<int> server_cores;  ///< Empty: as this program may.
    std::vector<int> client_cores;  ///< Of the origin behind it.
    std::filesystem::path programs; ///< Where cleat and what is built with it are.
    bool json = false;
};

/// serve says where the server is and how it was started, waits for SIGINT or SIGTERM, and ends it.
/// Gives the exit code: 0; 1 where it does not start or has ended by itself.
int serve(do_serve const& wish);

} // namespace cleat::bench
