// compare_options: the options of `compare` and `serve` on the command line.

#pragma once

#include "compare/compare.hpp"
#include "compare/serve.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// placement_options are where servers and clients run, and how much CPU servers get.
struct placement_options
{
    unsigned workers = 1;
    unsigned cores = 0; ///< The number of workers, and of their cores; 0: not given.
    std::string server_cores;
    std::string client_cores;
    std::string server_cpu;

    void add_to(CLI::App& app);

    /// placement is their meaning on this machine.
    struct placement
    {
        unsigned workers = 1;
        std::vector<int> server_cores;
        std::vector<int> client_cores;
        std::optional<double> server_cpu; ///< In cores.
    };
    [[nodiscard]] placement make() const;
};

/// compare_options holds what CLI11 has read; make turns it into a request.
struct compare_options
{
    std::string servers;
    std::vector<std::string> builds;
    std::vector<std::string> starts;
    std::vector<std::string> targets;
    std::vector<std::string> scenarios;
    unsigned rounds = 5;
    placement_options placement;
    std::string base;
    std::string binaries;
    std::string json;
    std::string html;
    bool quiet = false;

    /// add_to gives a subcommand these options.
    void add_to(CLI::App& app);

    /// make checks them and reads the scenarios. Throws std::runtime_error that names the option
    /// and the cure.
    [[nodiscard]] compare_request make() const;
};

/// serve_options, likewise, for `serve`.
struct serve_options
{
    std::string server;
    std::string scenario = "full-ecdsa-p256";
    placement_options placement;
    std::string binaries;
    std::string program;
    std::vector<std::string> variables;
    bool json = false;

    void add_to(CLI::App& app);
    [[nodiscard]] serve_request make() const;
};

} // namespace cleat::bench
