// compare: measures servers side by side. The subcommand, from a request to tables.

#pragma once

#include "compare/peer.hpp"
#include "compare/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::bench {

/// compare_request is a command line of `cleat-bench compare`.
struct compare_request
{
    std::vector<peer> servers; ///< In the order in which they take turns; no name is there twice.
    std::vector<scenario_spec> scenarios;
    unsigned rounds = 5;
    unsigned workers = 1; ///< Of each server.
    std::vector<int> server_cores;
    std::vector<int> client_cores;  ///< Of the generator, and of the origin server.
    std::string base;               ///< Empty: the first of the servers.
    std::filesystem::path programs; ///< Folder of cleat and what is built with it.
    std::string command;            ///< The command line, to be run again.
    std::string json;               ///< File; empty: none.
    std::string html;
    bool quiet = false; ///< No progress.
};

/// compare runs it and gives the exit code: 0; 1 if an installed server failed or nothing could be
/// measured; 130 after an interruption.
int compare(compare_request const& request);

} // namespace cleat::bench
