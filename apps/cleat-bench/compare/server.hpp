// server: a preset that runs and answers.

#pragma once

#include "compare/child.hpp"
#include "compare/interruption.hpp"
#include "compare/preset.hpp"
#include "compare/workshop.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <filesystem>
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

/// interrupted: somebody wanted the end while something was waited for.
struct interrupted : std::runtime_error
{
    interrupted() : std::runtime_error{"interrupted"} {}
};

/// server is one that has shaken hands with us, with the certificate that it was given.
struct server
{
    child process;
    net::address at;
    std::string command; ///< As it can be typed again.
    std::string config;
};

/// start runs a preset's program with a setting, on a port of its own and in a folder of its own.
/// `client` is what it is to shake hands with. Throws start_failure, and interrupted.
[[nodiscard]] server start(
    preset const& of, std::filesystem::path const& program, setting use,
    tls::context_spec const& client, workshop& in, interruption& stop);

/// loopback is an address of this machine alone.
[[nodiscard]] net::address loopback(unsigned port);

/// start_origin runs the plain HTTP server behind the servers. Throws start_failure.
struct origin
{
    child process;
    unsigned port = 0;
};
[[nodiscard]] origin start_origin(
    std::filesystem::path const& program, std::vector<int> const& cores, workshop& in,
    interruption& stop);

} // namespace cleat::bench
