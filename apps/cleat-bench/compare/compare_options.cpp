#include "compare/compare_options.hpp"
#include "compare/own_command.hpp"
#include "compare/preset.hpp"
#include "compare/scenario_files.hpp"
#include "generate/target.hpp"
#include "system/files.hpp"
#include "system/ration.hpp"
#include "text/lists.hpp"
#include "text/usage_error.hpp"

#include <cleat/core/cpu_topology.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cleat::bench {
namespace {

std::vector<peer> all_servers()
{
    std::vector<peer> found;
    for (server_preset const& each : presets())
        found.push_back({each.name, peer_source::preset, each, {}});
    return found;
}

std::vector<peer> read_servers(std::string const& text)
{
    std::vector<peer> found;
    for (std::string_view const each : comma_separated(text)) {
        std::string const name{each};
        server_preset const* const preset = find_preset(name);
        if (preset == nullptr)
            refuse_usage(fmt::format(
                "--servers {}: there is no server '{}': take some of {}", text, name,
                fmt::join(preset_names(), ", ")));
        if (std::ranges::find(found, name, &peer::name) != found.end())
            refuse_usage(fmt::format("--servers {}: {} is there twice", text, name));
        found.push_back({name, peer_source::preset, *preset, {}});
    }
    if (found.empty())
        refuse_usage("--servers: name one at least");
    return found;
}

void check_variables(std::vector<std::string> const& variables)
{
    for (std::string const& each : variables)
        if (std::size_t const equals = each.find('='); equals == std::string::npos || equals == 0)
            refuse_usage(fmt::format("--env {}: write NAME=VALUE", each));
}

// The servers of an option take turns behind those that are there.
void add_servers(
    std::vector<peer>& servers, std::string_view option, peer (*parse)(std::string_view),
    std::vector<std::string> const& texts)
{
    for (std::string const& text : texts) {
        peer server;
        try {
            server = parse(text);
        } catch (unreachable const&) {
            throw;
        } catch (std::runtime_error const& e) {
            refuse_usage(fmt::format("{} {}: {}", option, text, e.what()));
        }
        if (std::ranges::find(servers, server.name, &peer::name) != servers.end())
            refuse_usage(fmt::format(
                "{} {}: another server is called {}: choose another name, or name with --servers "
                "those that take part",
                option, text, server.name));
        servers.push_back(std::move(server));
    }
}

std::vector<int> read_cores(
    std::string const& option, std::string const& text, std::vector<int> const& allowed,
    int default_core)
{
    if (text.empty())
        return {default_core};
    auto const found = parse_cpu_list(text);
    if (!found || found->empty())
        refuse_usage(fmt::format("{} {}: write numbers of cores, like 0 or 0-3,8", option, text));
    for (int const core : *found)
        if (std::ranges::find(allowed, core) == allowed.end())
            refuse_usage(fmt::format(
                "{} {}: core {} may not be used here; these may: {}", option, text, core,
                fmt::join(allowed, ",")));
    return *found;
}

std::filesystem::path folder_of_programs(std::string const& binaries)
{
    std::error_code ignored;
    return binaries.empty() ? std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path()
                            : std::filesystem::path{binaries};
}

void add_binaries(CLI::App& app, std::string& binaries)
{
    app.add_option(
           "--binaries", binaries,
           "folder of cleat, perf-origin and the controls [where cleat-bench is]")
        ->type_name("DIR");
}

// The first cores are the servers', and the others the clients'.
void divide_cores(
    placement_options::placement& found, unsigned cores, std::vector<int> const& allowed)
{
    if (allowed.size() <= cores)
        refuse_usage(fmt::format(
            "--cores {}: this process may use {} core{}, and one must be left for the clients: ask "
            "for "
            "fewer, or place both with --workers, --server-cores and --client-cores",
            cores, allowed.size(), allowed.size() == 1 ? "" : "s"));
    auto const middle = allowed.begin() + cores;
    found.workers = cores;
    found.server_cores.assign(allowed.begin(), middle);
    found.client_cores.assign(middle, allowed.end());
}

// A scenario's ration is replaced, where it can have one.
void set_ration(scenario_spec& scenario, std::optional<double> const& cores)
{
    if (!cores)
        return;
    if (scenario.kind == activity::system_calls || scenario.kind == activity::workers)
        refuse_usage(fmt::format(
            "--server-cpu: has no effect in the scenario {}, which is of the kind {}: leave one of "
            "them out",
            scenario.name, name_of(scenario.kind)));
    scenario.server_cpu = cores;
}

} // namespace

void placement_options::add_to(CLI::App& app)
{
    app.add_option("--workers", workers, "workers of each server")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str();
    app.add_option("--cores", cores, "workers of each server, each on a core of its own")
        ->check(CLI::Range(1U, 1024U))
        ->excludes("--workers");
    app.add_option("--server-cores", server_cores, "cores of the servers, like 0-3 [the first]")
        ->excludes("--cores");
    app.add_option(
           "--client-cores", client_cores, "cores of the generator and the origin [the last]")
        ->excludes("--cores");
    app.add_option(
        "--server-cpu", server_cpu,
        "cores that each server may use in all, like 0.3, so that it is the limit and not the "
        "client");
}

placement_options::placement placement_options::make() const
{
    auto const allowed = allowed_cpus();
    if (!allowed || allowed->empty())
        refuse_usage("cannot find out which cores this process may use");
    placement found;
    if (cores != 0) {
        divide_cores(found, cores, *allowed);
    } else {
        found.workers = workers;
        found.server_cores = read_cores("--server-cores", server_cores, *allowed, allowed->front());
        found.client_cores = read_cores("--client-cores", client_cores, *allowed, allowed->back());
    }
    if (!server_cpu.empty())
        found.server_cpu = parse_ration(server_cpu, found.server_cores.size());
    return found;
}

void compare_options::add_to(CLI::App& app)
{
    std::string const names = fmt::format("{}", fmt::join(preset_names(), ","));
    app.add_option(
        "--servers", servers,
        "the servers, with commas; by default all, or none with a server of your own: " + names);
    app.add_option(
        "--build", builds,
        "NAME=SERVER:PROGRAM, more than once: another build of a server takes part as NAME");
    app.add_option(
           "--start", starts,
           "NAME='COMMAND', more than once: a server of your own, which is started and ended as "
           "the "
           "others are; {port}, {pem} (or {cert} and {key}), {origin} and {workers} are replaced")
        ->allow_extra_args(false);
    app.add_option(
           "--target", targets,
           "NAME=HOST:PORT, more than once: a server that runs already, with settings of its own; "
           "with ,pid=PID its CPU and memory are measured too")
        ->allow_extra_args(false);
    app.add_option(
           "--scenario", scenarios,
           "name of a scenario or path of a file, more than once; all: every scenario "
           "[full-ecdsa-p256]")
        ->type_name("FILE");
    app.add_option("--rounds", rounds, "how many times the servers take turns")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str();
    placement.add_to(app);
    add_binaries(app, binaries);
    app.add_option("--base", base, "server that the others are compared with [the first]");
    app.add_option("--json", json, "write everything to this file")->type_name("FILE");
    app.add_option("--html", html, "write a report with charts to this file")->type_name("FILE");
    app.add_flag("-q,--quiet", quiet, "no progress");
    app.footer(fmt::format(
        "\nScenarios: {}.\napps/cleat-bench/compare/scenarios/README.md says how to write one.\n\n"
        "Examples:\n"
        "  cleat-bench compare --servers cleat,nginx,hitch\n"
        "  cleat-bench compare --scenario full-rsa-2048 --scenario resumed-4-tickets\n"
        "  cleat-bench compare --scenario mine.scenario --base nginx --json found.json\n"
        "  cleat-bench compare --servers cleat --build before=cleat:/opt/before/bin/cleat\n"
        "  cleat-bench compare --servers nginx --start mine='/opt/mine {{port}} {{pem}} "
        "{{origin}}'\n"
        "  cleat-bench compare --target a=localhost:8443,pid=4711 --target "
        "b=localhost:9443,pid=4712\n"
        "  cleat-bench compare --servers cleat,nginx --server-cpu 0.3\n",
        fmt::join(scenario_names(), ", ")));
}

compare_request compare_options::make() const
{
    compare_request request;
    if (!servers.empty())
        request.servers = read_servers(servers);
    else if (starts.empty() && targets.empty())
        request.servers = all_servers();
    add_servers(request.servers, "--build", parse_build, builds);
    add_servers(request.servers, "--start", parse_start, starts);
    add_servers(request.servers, "--target", parse_target, targets);
    for (std::string const& each : scenarios)
        if (each == "all")
            for (std::string const& name : scenario_names())
                request.scenarios.push_back(find_scenario(name));
        else
            request.scenarios.push_back(find_scenario(each));
    if (scenarios.empty())
        request.scenarios.push_back(find_scenario("full-ecdsa-p256"));
    request.rounds = rounds;
    placement_options::placement place = placement.make();
    request.workers = place.workers;
    request.server_cores = std::move(place.server_cores);
    request.client_cores = std::move(place.client_cores);
    for (scenario_spec& each : request.scenarios)
        set_ration(each, place.server_cpu);
    if (!base.empty() &&
        std::ranges::find(request.servers, base, &peer::name) == request.servers.end()) {
        std::vector<std::string> names;
        for (peer const& each : request.servers)
            names.push_back(each.name);
        refuse_usage(
            fmt::format("--base {}: is not among the servers: {}", base, fmt::join(names, ", ")));
    }
    request.base = base;
    request.programs = folder_of_programs(binaries);
    request.json = json;
    request.html = html;
    refuse_overwriting(scenarios, {{"--json", json}, {"--html", html}});
    request.quiet = quiet;
    return request;
}

void serve_options::add_to(CLI::App& app)
{
    app.add_option("server", server, fmt::format("the server: {}", fmt::join(preset_names(), ", ")))
        ->required();
    app.add_option(
           "--scenario", scenario, "name of a scenario or path of a file: its certificate and TLS")
        ->type_name("FILE")
        ->capture_default_str();
    placement.add_to(app);
    add_binaries(app, binaries);
    app.add_option("--program", program, "another build of this server, to be run instead")
        ->type_name("FILE");
    app.add_option("--env", variables, "NAME=VALUE for the server's environment, more than once");
    app.add_flag("--json", json, "print its address and processes in a line of JSON");
    app.footer(
        "\nExamples:\n"
        "  cleat-bench serve hitch --scenario full-rsa-2048\n"
        "  cleat-bench serve cleat --program /opt/before/bin/cleat --env MALLOC_ARENA_MAX=1\n"
        "It says its port; in another terminal: cleat-bench staircase 127.0.0.1:PORT\n");
}

serve_request serve_options::make() const
{
    serve_request request;
    server_preset const* const preset = find_preset(server);
    if (preset == nullptr)
        refuse_usage(fmt::format(
            "serve {}: there is no such server: take one of {}", server,
            fmt::join(preset_names(), ", ")));
    request.server = {server, peer_source::preset, *preset, {}};
    if (!program.empty())
        try {
            request.server.program = runnable_program(program);
        } catch (std::runtime_error const& e) {
            refuse_usage(fmt::format("--program {}", e.what()));
        }
    check_variables(variables);
    request.variables = variables;
    request.scenario = find_scenario(scenario);
    placement_options::placement place = placement.make();
    request.workers = place.workers;
    request.server_cores = std::move(place.server_cores);
    request.client_cores = std::move(place.client_cores);
    set_ration(request.scenario, place.server_cpu);
    request.programs = folder_of_programs(binaries);
    request.json = json;
    return request;
}

} // namespace cleat::bench
