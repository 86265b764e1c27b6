// server: a preset that runs and answers.

#pragma once

#include "compare/child.hpp"
#include "compare/cpu_quota.hpp"
#include "compare/interruption.hpp"
#include "compare/preset.hpp"
#include "compare/scenario.hpp"
#include "compare/temporary_directory.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::bench {

/// start_failure says why a server does not run, with what it has said last.
struct start_failure : std::runtime_error
{
    explicit start_failure(std::string const& why, std::string const& log = {});

    std::string brief; ///< The same in a line, with the line of the log that tells most.
};

/// server is one that has shaken hands with us, with the certificate that it was given.
struct server
{
    std::unique_ptr<cpu_ration> ration; ///< Null: all that its cores have.
    child process;
    net::address at;
    std::string command; ///< As it can be typed again.
    std::string config;
};

/// start runs a preset's program with a setting, on a port of its own and in a folder of its own.
/// `client` is what it is to shake hands with; a ration is the server's from its start on. Throws
/// start_failure, and interrupted.
[[nodiscard]] server start(
    preset const& of, std::filesystem::path const& program, setting use,
    tls::context_spec const& client, std::unique_ptr<cpu_ration> ration, workshop& in,
    interruption& stop);

/// client_for a scenario: what its clients offer, and nothing else, so that every server agrees to
/// the same.
[[nodiscard]] tls::context_spec client_for(scenario const& what);

/// seat is where a server is started: who is behind it, and what it may use.
struct seat
{
    unsigned upstream = 0; ///< Port of the origin.
    unsigned workers = 1;
    std::vector<int> cores;
};

/// start_for a scenario: as above, with what the scenario asks of a server, and with a certificate
/// that only this server has, so that nobody else is taken for it who was quicker to take the port.
[[nodiscard]] server start_for(
    scenario const& what, preset const& of, std::filesystem::path const& program, seat const& on,
    workshop& in, interruption& stop);

/// version_of a preset's program: the first line of what it says, or why there is none.
[[nodiscard]] std::string version_of(
    preset const& of, std::filesystem::path const& program, workshop& in, interruption& stop);

/// loopback is an address of this machine alone.
[[nodiscard]] net::address loopback(unsigned port);

/// start_origin runs the plain HTTP server behind the servers, perf-origin in the folder
/// `programs`. Throws start_failure, and std::runtime_error where it is not there.
struct origin
{
    child process;
    unsigned port = 0;
};
[[nodiscard]] origin start_origin(
    std::filesystem::path const& programs, std::vector<int> const& cores, workshop& in,
    interruption& stop);

} // namespace cleat::bench
