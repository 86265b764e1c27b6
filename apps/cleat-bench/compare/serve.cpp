#include "compare/preset.hpp"
#include "compare/serve.hpp"
#include "compare/server.hpp"
#include "compare/temporary_directory.hpp"
#include "file_limit.hpp"
#include "standard_error.hpp"
#include "system/interruption.hpp"
#include "system/processes.hpp"
#include "text/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 100ms; // For signals, and the end of the server.

void print_server(
    serve_request const& request, server const& running, origin const& upstream,
    std::string const& server_version)
{
    std::string const& name = request.server.name;
    std::string const address = net::to_string(running.address);
    std::string const behind = fmt::format("127.0.0.1:{}", upstream.port);
    std::vector<int> const pids = with_children(running.pids);
    if (request.json)
        fmt::print(
            "{}\n", json::serialize(json::object{
                        {"server", name},
                        {"address", address},
                        {"pid", running.pids.front()},
                        {"pids", json::value_from(pids)},
                        {"origin", behind},
                        {"origin_pid", upstream.process.pid()},
                        {"version", server_version},
                        {"command", running.command},
                        {"configuration", running.config}}));
    else
        fmt::print(
            "{}, {}\n{}\n{}\n{} serves on https://{}/ as process {}, before an origin on {} "
            "(process {}). Ctrl-C ends both.\n",
            name, server_version, running.command,
            running.config.empty() ? "" : "\n" + running.config + "\n", name, address,
            fmt::join(pids, " "), behind, upstream.process.pid());
    std::fflush(stdout);
}

} // namespace

int serve(serve_request const& request)
{
    raise_file_limit();
    server_preset const& preset = request.server.preset;
    std::optional<std::filesystem::path> const program =
        program_of(request.server, request.programs);
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
        server_environment const environment{
            upstream.port, request.workers, request.server_cores, request.variables};
        server running =
            start_server(request.scenario, preset, *program, environment, directory, stop);
        print_server(request, running, upstream, version_of(preset, *program, directory, stop));
        while (!stop.asked())
            if (running.process->wait(look_interval)) {
                complain(
                    "cleat-bench: {} {}\n{}", preset.name,
                    running.process->ended().value_or("ended"), running.process->output());
                return EXIT_FAILURE;
            }
    } catch (interrupted const&) {
    }
    return EXIT_SUCCESS;
}

} // namespace cleat::bench
