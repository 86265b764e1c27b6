// server: a server of a comparison that runs and has shaken hands.

#pragma once

#include "compare/child.hpp"
#include "compare/preset.hpp"
#include "compare/running_target.hpp"
#include "compare/scenario.hpp"
#include "compare/temporary_directory.hpp"
#include "system/cpu_quota.hpp"
#include "system/interruption.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::bench {

/// start_failure says why a server does not run, with the end of its log.
struct start_failure : std::runtime_error
{
    explicit start_failure(std::string const& reason, std::string const& log = {});

    std::string brief; ///< One line: the reason, and the first line of the log with an error.
};

/// server is a running server that has completed a handshake: one that was started, with the
/// certificate that it was given.
struct server
{
    std::unique_ptr<cpu_quota> quota; ///< Null: all that its cores have. Outlives the process.
    std::optional<child> process;     ///< Unset: it ran already.
    std::vector<int> pids;            ///< Whose CPU and memory are measured; empty: not known.
    net::address address;
    std::string command; ///< Can be typed again; empty: it ran already.
    std::string config;
    std::filesystem::path folder;          ///< For files of this server's measurement.
    std::string server_name = "localhost"; ///< That its clients ask for.
    std::string host;                      ///< The value of a request's Host; empty: none is sent.
};

/// server_environment is what a server is started with, beside the settings of a scenario.
struct server_environment
{
    unsigned upstream = 0; ///< Port of the origin.
    unsigned workers = 1;
    std::vector<int> cores;               ///< That the server may use.
    std::vector<std::string> variables{}; ///< NAME=VALUE, beside those of this process.
};

/// client_spec_for a scenario: what its clients offer, and nothing else, so that every server
/// agrees to the same.
[[nodiscard]] tls::context_spec client_spec_for(scenario_spec const& scenario);

/// start_server runs a preset's program with the settings of a scenario, on a free port, and waits
/// until it completes a handshake. Its certificate was made for this run, so verification fails if
/// another program has taken the port first. Throws start_failure, and interrupted.
[[nodiscard]] server start_server(
    scenario_spec const& scenario, server_preset const& preset,
    std::filesystem::path const& program, server_environment const& environment,
    temporary_directory& directory, interruption& stop);

/// attach_to a server that runs already, once it completes a handshake. Its certificate is not
/// verified. Throws start_failure.
[[nodiscard]] server attach_to(
    running_target const& target, scenario_spec const& scenario, temporary_directory& directory);

/// version_of a preset's program: the line with the version in its output, or why there is none.
[[nodiscard]] std::string version_of(
    server_preset const& preset, std::filesystem::path const& program,
    temporary_directory& directory, interruption& stop);

/// origin is the plain HTTP server to which all compared servers forward.
struct origin
{
    child process;
    unsigned port = 0;
};

/// start_origin runs perf-origin of the folder `programs`. Throws start_failure, and
/// std::runtime_error if the program is missing.
[[nodiscard]] origin start_origin(
    std::filesystem::path const& programs, std::vector<int> const& cores,
    temporary_directory& directory, interruption& stop);

} // namespace cleat::bench
