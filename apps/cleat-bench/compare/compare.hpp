// compare: servers side by side. The subcommand, from a wish to tables.

#pragma once

#include "compare/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::bench {

/// do_compare: `cleat-bench compare`.
struct do_compare
{
    std::vector<std::string> servers; ///< Names of presets, in the order in which they take turns.
    std::vector<scenario> scenarios;
    unsigned rounds = 5;
    unsigned workers = 1; ///< Of each server.
    std::vector<int> server_cores;
    std::vector<int> client_cores;  ///< Of the generator and of the origin behind the servers.
    std::string base;               ///< Empty: the first of the servers.
    std::filesystem::path programs; ///< Where cleat and what is built with it are.
    std::string command;            ///< The command line, to be run again.
    std::string json;               ///< File; empty: none.
    std::string html;
    bool quiet = false; ///< No progress.
};

/// compare runs it and gives the exit code: 0; 1 where a server that is here did not do what it
/// should have, or nothing could be measured; 130 when it was interrupted.
int compare(do_compare const& wish);

} // namespace cleat::bench
