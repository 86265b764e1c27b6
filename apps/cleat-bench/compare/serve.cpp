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

constexpr auto between_looks = 100ms; // At whether it is to end, or has.

void tell(do_serve const& wish, server const& on, std::string const& version)
{
    std::string const address = net::to_string(on.at);
    if (wish.json)
        fmt::print(
            "{}\n", json::serialize(json::object{
                        {"server", wish.server},
                        {"address", address},
                        {"pid", on.process.pid()},
                        {"version", version},
                        {"command", on.command},
                        {"configuration", on.config}}));
    else
        fmt::print(
            "{}, {}\n{}\n{}\n{} serves on https://{}/ as process {}. Ctrl-C ends it.\n",
            wish.server, version, on.command, on.config.empty() ? "" : "\n" + on.config + "\n",
            wish.server, address, on.process.pid());
    std::fflush(stdout);
}

} // namespace

int serve(do_serve const& wish)
{
    raise_file_limit();
    preset const& of = *find_preset(wish.server);
    std::optional<std::filesystem::path> const program = find_program(of, wish.programs);
    if (!program)
        throw std::runtime_error{fmt::format("{} is not here: {}", of.name, of.install)};
    if (of.one_worker && wish.workers != 1)
        throw std::runtime_error{fmt::format("{} has one worker only", of.name)};
    interruption stop;
    adopt_orphans();
    workshop place{stop.before()};
    try {
        origin const behind = start_origin(wish.programs, wish.client_cores, place, stop);
        seat const at{behind.port, wish.workers, wish.server_cores};
        server on = start_for(wish.what, of, *program, at, place, stop);
        tell(wish, on, version_of(of, *program, place, stop));
        while (!stop.asked())
            if (on.process.wait(between_looks)) {
                complain(
                    "cleat-bench: {} {}\n{}", of.name, on.process.ended().value_or("ended"),
                    on.process.said());
                return EXIT_FAILURE;
            }
    } catch (interrupted const&) {
    }
    return EXIT_SUCCESS;
}

} // namespace cleat::bench
