// serve: one server, started as `compare` does it, for measurements with other tools.

#pragma once

#include "compare/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::bench {

/// serve_request is a command line of `cleat-bench serve`.
struct serve_request
{
    std::string server; ///< Name of a preset.
    scenario_spec scenario;
    unsigned workers = 1;
    std::vector<int> server_cores;  ///< Empty: those of this process.
    std::vector<int> client_cores;  ///< Of the origin behind it.
    std::filesystem::path programs; ///< Folder of cleat and what is built with it.
    bool json = false;
};

/// serve prints the server's address and command, waits for SIGINT or SIGTERM, and ends it. Gives
/// the exit code: 0; 1 if it does not start or ended by itself.
int serve(serve_request const& request);

} // namespace cleat::bench
