// serve: one server, started as `compare` does it, for measurements with other tools.

#pragma once

#include "compare/peer.hpp"
#include "compare/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::bench {

/// serve_request is a command line of `cleat-bench serve`.
struct serve_request
{
    peer server;
    scenario_spec scenario;
    unsigned workers = 1;
    std::vector<int> server_cores;      ///< Empty: those of this process.
    std::vector<int> client_cores;      ///< Of the origin server.
    std::filesystem::path programs;     ///< Folder of cleat and what is built with it.
    std::vector<std::string> variables; ///< NAME=VALUE, of the server's environment.
    bool json = false;
};

/// serve prints the server's address, processes and command, and the origin's address, waits for
/// SIGINT or SIGTERM, and ends it. Gives the exit code: 0; 1 if it does not start or ended by
/// itself.
int serve(serve_request const& request);

} // namespace cleat::bench
