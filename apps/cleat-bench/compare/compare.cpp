#include "compare/compare.hpp"
#include "compare/figures_json.hpp"
#include "compare/measure.hpp"
#include "file_limit.hpp"
#include "report/report.hpp"
#include "result/environment.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "system/files.hpp"
#include "system/processes.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include <sched.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

// A peer whose program exists, or that runs already.
struct installed_server
{
    peer const* description;
    fs::path program;
};

bool is_started(installed_server const& server) noexcept
{
    return server.description->source != peer_source::target;
}

// How a server ended by itself; unset while it runs, or if its process is not known.
std::optional<std::string> end_of(server& running)
{
    if (running.process)
        return running.process->ended();
    return std::ranges::all_of(running.pids, exists) ? std::nullopt : std::optional{"ended"};
}

// The cores of a scenario's servers, and of their clients.
struct core_sets
{
    std::vector<int> servers;
    std::vector<int> clients;
};

// Two workers need two cores. Servers that have one share all cores with their clients, in both
// measurements: what a client disturbs, it disturbs in both.
core_sets cores_for(scenario_spec const& scenario, compare_request const& request)
{
    core_sets found{request.server_cores, request.client_cores};
    if (scenario.kind != activity::workers || found.servers.size() > 1)
        return found;
    for (int const core : request.client_cores)
        if (std::ranges::find(found.servers, core) == found.servers.end())
            found.servers.push_back(core);
    found.clients = found.servers;
    return found;
}

// Why a scenario cannot be measured here; empty if it can.
std::string obstacle(scenario_spec const& scenario, compare_request const& request)
{
    if (scenario.kind == activity::workers && request.workers != 1)
        return "it measures one worker and two by itself: leave --workers out";
    if (scenario.kind == activity::workers && cores_for(scenario, request).servers.size() < 2)
        return "two workers need two cores: name them with --server-cores";
    if (scenario.kind == activity::system_calls)
        try {
            static_cast<void>(system_program("strace", "counts system calls"));
        } catch (std::runtime_error const& e) {
            return e.what();
        }
    return {};
}

// Why a server that runs already cannot be measured in a scenario; empty if it can.
std::string obstacle_for(running_target const& target, scenario_spec const& scenario)
{
    if (scenario.kind == activity::workers)
        return "left out: it runs already, with a number of workers of its own";
    if (scenario.server_cpu)
        return "left out: it runs already, and its CPU time is not limited";
    if (!target.pids.empty())
        return {};
    if (scenario.kind == activity::idle)
        return "left out: its memory is not known: name its process with --target ...,pid=PID";
    if (scenario.kind == activity::system_calls)
        return "left out: its system calls are not seen: name its process with --target "
               "...,pid=PID";
    return {};
}

// Why one of the servers cannot be measured in a scenario; empty if it can.
std::string obstacle_for(peer const& server, scenario_spec const& scenario, unsigned workers)
{
    if (server.source == peer_source::target)
        return obstacle_for(server.target, scenario);
    if (!server.preset.one_worker || (scenario.kind != activity::workers && workers == 1))
        return {};
    return server.source == peer_source::command
               ? "left out: its command has no {workers}, which is the number of its workers"
               : "left out: it has one worker only";
}

// A user's own server has no option that is known to print its version.
std::string describe_version(
    installed_server const& server, temporary_directory& directory, interruption& stop)
{
    peer const& described = *server.description;
    if (described.source == peer_source::target)
        return fmt::format("not known: it ran already, at {}", described.target.text);
    if (described.source == peer_source::command)
        return fmt::format("not known: {} is started by --start", server.program.string());
    return version_of(described.preset, server.program, directory, stop);
}

// The figures of a server before its first round.
server_figures begin_figures(
    peer const& description, scenario_spec const& scenario, compare_request const& request)
{
    server_figures server;
    server.name = description.name;
    server.target = description.target.text;
    server.rounds.resize(request.rounds);
    server.left_out = obstacle_for(description, scenario, request.workers);
    if (description.source == peer_source::target && description.target.pids.empty())
        server.complaints.push_back(
            "its CPU and memory are not known: name its process with --target ...,pid=PID");
    return server;
}

// Threads inherit it from now on.
void run_on(std::vector<int> const& cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int const core : cores)
        CPU_SET(static_cast<std::size_t>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::runtime_error{
            fmt::format("--client-cores {}: may not be used here", fmt::join(cores, ","))};
}

std::vector<installed_server> find_servers(compare_request const& request, comparison& found)
{
    std::vector<installed_server> servers;
    for (peer const& each : request.servers) {
        if (each.source == peer_source::target) {
            servers.push_back({&each, {}});
            continue;
        }
        std::optional<fs::path> program = program_of(each, request.programs);
        if (program)
            servers.push_back({&each, std::move(*program)});
        else
            found.absent.emplace_back(
                each.name, fmt::format("it is not here: {}", each.preset.install));
    }
    if (servers.empty()) {
        std::string cures;
        for (peer const& each : request.servers)
            cures += fmt::format("\n  {}: {}", each.name, each.preset.install);
        throw std::runtime_error{"none of the servers is here:" + cures};
    }
    return servers;
}

std::string failure_kinds(round_figures const& round)
{
    std::string text;
    for (auto const& [what, count] : round.load.counts.failures)
        text += fmt::format("; {}: {}", name_of(what.stage), what.kind);
    return text;
}

void set_fault(server_figures& server, std::string reason)
{
    server.left_out = std::move(reason);
    server.at_fault = true;
}

// The figure by which the round is judged, for progress.
std::string judged_figure(scenario_spec const& scenario, round_figures const& round)
{
    metric const judged = judged_by(scenario);
    std::optional<double> const value = round[judged];
    if (!value && round.load.counts.ok != 0 && judged == metric::cpu)
        return fmt::format("{:.0f}/s, CPU not known", round[metric::rate].value_or(0));
    if (!value && round.load.counts.ok != 0)
        return fmt::format(
            "{} of {} failed", round.load.counts.failed(), round.load.counts.attempts);
    if (!value)
        return "nothing succeeded";
    if (judged == metric::memory)
        return fmt::format("{:.0f} bytes a connection", *value);
    if (judged == metric::p99)
        return fmt::format("p99 {:.2f} ms", *value / 1e6);
    if (judged == metric::system_calls)
        return fmt::format("{:.1f} system calls a {}", *value, operation_name(scenario));
    if (judged == metric::workers_ratio)
        return fmt::format("{:.2f} times the CPU of one worker", *value);
    return fmt::format(
        "{:.1f} {} CPU a {}", *value / (moves_bytes(scenario) ? 1e6 : 1e3),
        moves_bytes(scenario) ? "ms" : "us", operation_name(scenario));
}

// comparison_run measures, and fills in a comparison.
class comparison_run
{
public:
    comparison_run(compare_request const& request, comparison& found, interruption& stop)
        : request_{request}
        , found_{found}
        , stop_{stop}
        , directory_{stop.before()}
        , servers_{find_servers(request, found)}
    {
        if (std::ranges::any_of(servers_, is_started))
            start_origin();
        for (auto const& [name, reason] : found_.absent)
            print_progress(fmt::format("{} is left out: {}", name, reason));
        for (installed_server const& each : servers_)
            found_.versions.emplace_back(
                each.description->name, describe_version(each, directory_, stop_));
    }

    // All scenarios; in each the servers take turns, A B C A B C.
    void run()
    {
        for (scenario_spec const& scenario : request_.scenarios) {
            scenario_figures& trial = found_.trials.emplace_back();
            trial.scenario = scenario;
            try {
                run(trial);
            } catch (tls::spec_error const& e) {
                trial.skipped = fmt::format("this client cannot do it: {}", e.what());
                print_progress(fmt::format("{}: {}", scenario.name, trial.skipped));
            } catch (interrupted const&) {
                found_.partial = true;
            }
            trial.base = choose_base(trial, found_.requested_base);
            if (found_.partial)
                return;
        }
    }

private:
    void run(scenario_figures& trial)
    {
        // Throws tls::spec_error if this client cannot do the scenario.
        static_cast<void>(tls::context{client_spec_for(trial.scenario)});
        trial.skipped = obstacle(trial.scenario, request_);
        if (!trial.skipped.empty()) {
            print_progress(fmt::format("{}: {}", trial.scenario.name, trial.skipped));
            return;
        }
        cores_ = cores_for(trial.scenario, request_);
        run_on(cores_.clients);
        for (installed_server const& each : servers_)
            trial.servers.push_back(begin_figures(*each.description, trial.scenario, request_));
        find_rate(trial);
        if (trial.scenario.rate && !trial.rate) {
            trial.skipped = "no server's capacity could be measured, and the rate is a part of it";
            return;
        }
        for (unsigned round = 0; round != request_.rounds; ++round)
            for (std::size_t i = 0; i != servers_.size(); ++i)
                run_round(trial, servers_[i], trial.servers[i], round);
    }

    // A rate that is a part of the weakest server's capacity: each is first measured in a closed
    // loop, so that no server is overloaded.
    void find_rate(scenario_figures& trial)
    {
        if (!trial.scenario.rate)
            return;
        arrival_rate const wanted = *trial.scenario.rate;
        if (!wanted.of_weakest) {
            trial.rate = open_loop_rate{wanted.value, {}, 0};
            return;
        }
        open_loop_rate found;
        for (std::size_t i = 0; i != servers_.size(); ++i) {
            server_figures& server = trial.servers[i];
            auto const closed_loop =
                measure_once({trial.scenario, {}}, servers_[i], server, "its capacity");
            server.capacity = closed_loop ? (*closed_loop)[metric::rate] : std::nullopt;
            if (!server.capacity)
                continue;
            print_progress(fmt::format(
                "{}: {}: {:.0f}/s at most", trial.scenario.name, server.name, *server.capacity));
            if (found.weakest.empty() || *server.capacity < found.capacity)
                found = {*server.capacity * wanted.value, server.name, *server.capacity};
        }
        if (!found.weakest.empty())
            trial.rate = found;
    }

    void run_round(
        scenario_figures const& trial, installed_server const& installed, server_figures& server,
        unsigned round)
    {
        std::string const& scenario = trial.scenario.name;
        round_load const load{
            trial.scenario, trial.rate ? std::optional{trial.rate->rate} : std::nullopt, round + 1};
        std::optional<round_figures> figures =
            measure_once(load, installed, server, fmt::format("round {}", round + 1));
        if (!figures)
            return;
        figures->load.environment = found_.environment;
        figures->load.command = found_.command;
        figures->load.name = fmt::format("{}: {}, round {}", scenario, server.name, round + 1);
        print_progress(fmt::format(
            "{} {}/{}: {}: {}", scenario, round + 1, request_.rounds, server.name,
            judged_figure(trial.scenario, *figures)));
        server.rounds[round] = std::move(figures);
    }

    // Starts one server, measures it and ends it. Unset if the server is left out, or if this turn
    // does not count; the reason is then in `server`.
    std::optional<round_figures> measure_once(
        round_load const& load, installed_server const& installed, server_figures& server,
        std::string const& turn)
    {
        if (stop_.asked())
            throw interrupted{};
        if (!server.left_out.empty())
            return std::nullopt;
        try {
            return load.scenario.kind == activity::workers
                       ? measure_workers(load, installed, server, turn)
                       : measure_running(load, installed, server, turn, request_.workers);
        } catch (start_failure const& e) {
            if (origin_ended(server, turn))
                return std::nullopt;
            if (starts_with_defaults(installed))
                server.left_out = fmt::format("left out: it cannot do this: {}", e.brief);
            else if (!is_started(installed))
                set_fault(server, fmt::format("it does not serve: {}", e.brief));
            else
                set_fault(server, fmt::format("it does not start: {}", e.what()));
        } catch (interrupted const&) {
            throw;
        } catch (std::runtime_error const& e) {
            if (origin_ended(server, turn))
                return std::nullopt;
            set_fault(server, e.what());
        }
        print_progress(fmt::format("{}: {}: {}", load.scenario.name, server.name, server.left_out));
        return std::nullopt;
    }

    // One worker, two, two, one: what drifts is in both. Times and counts are the last of two.
    std::optional<round_figures> measure_workers(
        round_load const& load, installed_server const& installed, server_figures& server,
        std::string const& turn)
    {
        std::optional<round_figures> with_two;
        double cpu_of_one = 0;
        double cpu_of_two = 0;
        for (unsigned const workers : {1U, 2U, 2U, 1U}) {
            auto figures = measure_running(load, installed, server, turn, workers);
            if (!figures || !(*figures)[metric::cpu])
                return figures;
            (workers == 1 ? cpu_of_one : cpu_of_two) += *(*figures)[metric::cpu] / 2;
            if (workers == 2)
                with_two = std::move(figures);
        }
        (*with_two)[metric::cpu] = cpu_of_two;
        (*with_two)[metric::workers_ratio] = cpu_of_two / cpu_of_one;
        return with_two;
    }

    std::optional<round_figures> measure_running(
        round_load const& load, installed_server const& installed, server_figures& server,
        std::string const& turn, unsigned workers)
    {
        if (origin_ && origin_->process.ended())
            start_origin();
        bench::server running = start(load.scenario, installed, workers);
        server.command = running.command;
        server.config = running.config;
        round_figures figures = measure(load, running, cores_.clients.size(), stop_);
        if (std::optional<std::string> const end = end_of(running)) {
            server.complaints.push_back(fmt::format("{}: it {} while it was measured", turn, *end));
            figures[metric::cpu].reset(); // The time of a process goes with it.
            figures.load.server.reset();
        }
        if (origin_ended(server, turn))
            return std::nullopt;
        if (load.scenario.kind != activity::idle && figures.load.counts.ok == 0)
            set_fault(server, fmt::format("nothing succeeded{}", failure_kinds(figures)));
        return figures;
    }

    void start_origin()
    {
        origin_.reset();
        origin_.emplace(
            bench::start_origin(request_.programs, request_.client_cores, directory_, stop_));
    }

    // Without the origin nothing can succeed, and that is no server's fault.
    bool origin_ended(server_figures& server, std::string const& turn)
    {
        std::optional<std::string> const end = origin_ ? origin_->process.ended() : std::nullopt;
        if (!end)
            return false;
        server.complaints.push_back(
            fmt::format("{} is not counted: the origin behind the server {}", turn, *end));
        print_progress(fmt::format("{}: {}", server.name, server.complaints.back()));
        return true;
    }

    // A single worker of several cores' scenario keeps to the first, as each of two keeps to its
    // own.
    server start(scenario_spec const& scenario, installed_server const& installed, unsigned workers)
    {
        if (!is_started(installed))
            return attach_to(installed.description->target, scenario, directory_);
        std::vector<int> cores = cores_.servers;
        if (scenario.kind == activity::workers)
            cores.resize(workers);
        server_environment const environment{origin_->port, workers, std::move(cores)};
        server running = start_server(
            scenario, installed.description->preset, installed.program, environment, directory_,
            stop_);
        // A web server refuses a request of HTTP/1.1 without it.
        if (installed.description->source == peer_source::command)
            running.host = running.server_name;
        return running;
    }

    // Whether a server that does not start with a scenario's settings starts with the defaults.
    bool starts_with_defaults(installed_server const& installed)
    {
        try {
            static_cast<void>(start(scenario_spec{}, installed, request_.workers));
            return true;
        } catch (start_failure const&) {
            return false;
        }
    }

    void print_progress(std::string const& text) const
    {
        if (!request_.quiet)
            complain("{}\n", text);
    }

    compare_request const& request_;
    comparison& found_;
    interruption& stop_;
    temporary_directory directory_;
    std::vector<installed_server> servers_;
    core_sets cores_; ///< Of the scenario that is measured.
    std::optional<origin> origin_;
};

bool write_all(comparison const& found, compare_request const& request)
{
    fmt::print("{}", to_text(found));
    std::fflush(stdout);
    try {
        if (!request.json.empty())
            write_file(request.json, to_json(found));
        if (!request.html.empty()) {
            drawable all;
            all.comparisons = {document_of(found)};
            write_file(request.html, page_for(all));
        }
        return true;
    } catch (std::runtime_error const& e) {
        complain("cleat-bench: {}\n", e.what());
        return false;
    }
}

} // namespace

int compare(compare_request const& request)
{
    check_writable({{"--json", request.json}, {"--html", request.html}});
    raise_file_limit();
    comparison found;
    found.command = request.command;
    found.started = std::chrono::system_clock::now();
    found.rounds = request.rounds;
    found.workers = request.workers;
    found.server_cores = request.server_cores;
    found.client_cores = request.client_cores;
    found.requested_base = request.base.empty() ? request.servers.front().name : request.base;
    found.environment = describe_environment();
    interruption stop;
    adopt_orphans();
    run_on(request.client_cores);
    try {
        comparison_run{request, found, stop}.run();
    } catch (interrupted const&) {
        found.partial = true;
    }
    bool const written = write_all(found, request);
    bool const any_measured = std::ranges::any_of(
        found.trials, [](scenario_figures const& trial) { return !trial.base.empty(); });
    if (found.partial)
        return 130;
    return written && any_measured && !found.has_fault() ? 0 : 1;
}

} // namespace cleat::bench
