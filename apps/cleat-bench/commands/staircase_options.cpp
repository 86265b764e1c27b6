#include "commands/staircase_options.hpp"
#include "system/ration.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>
#include <utility>

namespace cleat::bench {
namespace {

constexpr char const* staircase_epilogue =
    "\nExamples:\n"
    "  cleat-bench staircase localhost:8443                100/s, 200/s, ... until it breaks\n"
    "  cleat-bench staircase --from 500 --to 5000 --step 500 --hold 10s --reuse 4 --html s.html "
    "\\\n"
    "      localhost:8443                                  as a load appliance does it\n";

} // namespace

void staircase_options::add_to(CLI::App& app)
{
    app.add_option("--from", first_rate, "rate of the first step, per second")
        ->capture_default_str();
    app.add_option("--to", last_rate, "rate of the last step; ends earlier where the server breaks")
        ->capture_default_str();
    app.add_option("--step", step, "increase of the rate from step to step")->capture_default_str();
    app.add_option("--hold", hold, "length of a step")->capture_default_str();
    app.add_option("--arrivals", arrivals, "constant gaps, or poisson as of many users")
        ->check(CLI::IsMember({"constant", "poisson"}))
        ->capture_default_str();
    app.add_option(
        "--server-cpu", server_cpu,
        "cores that the processes of --server-pid may use meanwhile, like 0.3");
    load.add_seed(app);
    load.add_start(app);
    load.add_limits(app);
    load.add_tls(app);
    load.add_exchange(app);
    load.add_http2(app);
    load.add_output(app);
    load.add_target(app);
    app.footer(staircase_epilogue);
}

staircase_request staircase_options::make()
{
    auto const length = parse_length(hold);
    if (!length || *length < std::chrono::milliseconds{100})
        throw std::runtime_error{fmt::format("--hold {}: a length of time, at least 100ms", hold)};
    if (!(first_rate > 0 && step > 0 && last_rate >= first_rate && last_rate <= 1e7) ||
        (last_rate - first_rate) / step > 10'000)
        throw std::runtime_error{fmt::format(
            "--from {} --to {} --step {}: rates go up from more than 0 to at most 10 million, in "
            "at most 10000 steps",
            first_rate, last_rate, step)};
    if (load.requests > 1)
        throw std::runtime_error{
            "--requests: has no effect here: a step is of new connections, with one request "
            "each; see load --phases"};
    std::string phases;
    for (double rate = first_rate; rate <= last_rate * (1 + 1e-9); rate += step)
        phases += fmt::format("{}{}/{}ns", phases.empty() ? "" : ",", rate, length->count());
    if (load.given("--interval"))
        throw std::runtime_error{
            "--interval: has no effect here: a step has four intervals; choose --hold"};
    load.phases = phases;
    load.arrivals = arrivals;
    // Four points of the timeline for each step.
    load.interval = fmt::format("{}ns", length->count() / 4);
    staircase_request request{load.make(), {}};
    if (!server_cpu.empty()) {
        if (request.load.server_pids.empty())
            throw std::runtime_error{
                "--server-cpu: name the server's processes on this machine with --server-pid"};
        request.server_cpu = parse_ration(server_cpu, std::thread::hardware_concurrency());
    }
    request.load.spec.by_start = true;
    request.load.asked.front() = {
        "staircase", fmt::format(
                         "{:g}/s to {:g}/s in steps of {:g}/s, {} each, {}", first_rate, last_rate,
                         step, hold, arrivals)};
    if (request.server_cpu)
        request.load.asked.emplace_back(
            "server's CPU", fmt::format("{:g} cores", *request.server_cpu));
    return request;
}

} // namespace cleat::bench
