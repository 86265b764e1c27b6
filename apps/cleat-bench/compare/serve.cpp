#include "compare/preset.hpp"
#include "compare/serve.hpp"
#include "compare/server.hpp"
#include "compare/temporary_directory.hpp"
#include "file_limit.hpp"
#include "standard_error.hpp"
#include "system/interruption.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 100ms; // For signals, and the end of the server.

void print(serve_request const& request, server const& running, std::string const& version)
{
    std::string const address = net::to_string(running.address);
    if (request.json)
        fmt::print(
            "{}\n", json::serialize(json::object{
                        {"server", request.server},
                        {"address", address},
                        {"pid", running.process.pid()},
                        {"version", version},
                        {"command", running.command},
                        {"configuration", running.config}}));
    else
        fmt::print(
            "{}, {}\n{}\n{}\n{} serves on https://{}/ as process {}. Ctrl-C ends it.\n",
            request.server, version, running.command,
            running.config.empty() ? "" : "\n" + running.config + "\n", request.server, address,
            running.process.pid());
    std::fflush(stdout);
}

} // namespace

int serve(serve_request const& request)
{
    raise_file_limit();
    server_preset const& preset = *find_preset(request.server);
    std::optional<std::filesystem::path> const program = find_program(preset, request.programs);
    if (!program)
        throw std::runtime_error{fmt::format("{} is not here: {}", preset.name, preset.install)};
    if (preset.one_worker && request.workers != 1)
        throw std::runtime_error{fmt::format("{} has one worker only", preset.name)};
    interruption stop;
    adopt_orphans();
    temporary_directory directory{stop.before()};
    try {
        origin const upstream =
            start_origin(request.programs, request.client_cores, directory, stop);
        server_environment const environment{upstream.port, request.workers, request.server_cores};
        server running =
            start_server(request.scenario, preset, *program, environment, directory, stop);
        print(request, running, version_of(preset, *program, directory, stop));
        while (!stop.asked())
            if (running.process.wait(poll_interval)) {
                complain(
                    "cleat-bench: {} {}\n{}", preset.name,
                    running.process.ended().value_or("ended"), running.process.output());
                return EXIT_FAILURE;
            }
    } catch (interrupted const&) {
    }
    return EXIT_SUCCESS;
}

} // namespace cleat::bench
