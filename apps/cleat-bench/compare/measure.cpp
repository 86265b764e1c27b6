#include "compare/measure.hpp"
#include "compare/quiet_client.hpp"
#include "compare/strace.hpp"
#include "generate/run.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// A server's work after the last response is done by then, and counts for the load before.
constexpr auto settling = 50ms;
constexpr auto idle_settling = 500ms;
constexpr unsigned idle_steps = 4;
// A round ends after this time, with what was done until then.
constexpr auto round_max = 120s;
constexpr auto idle_patience = 5s;
// After it all established connections are open, and the load beside them has its full rate.
constexpr auto settling_in = 2s;

ended_run run_rounds(load_spec const& use, interruption& stop, std::vector<int> pids = {})
{
    run_control control;
    control.server_pids = std::move(pids);
    ended_run found = run_load(use, control);
    if (found.interrupted) {
        stop.note();
        throw interrupted{};
    }
    return found;
}

// take moves what a run has counted into its result.
void take(result& load, ended_run ended, std::string const& target)
{
    load.target = target;
    load.started = ended.started;
    load.measured = ended.measured;
    load.counts = std::move(ended.counts);
    load.drain = ended.drain;
    take_workers(load, ended.workers);
}

// The percentiles of all attempts; one that a failure has is not known.
void set_percentiles(round_figures& round)
{
    for (auto const& [what, level] : {std::pair{metric::p50, 50.0}, {metric::p99, 99.0}})
        if (auto const found = round.load.counts.response_percentile(level))
            round[what] = static_cast<double>(*found);
}

// The kernel shows the memory of another user's process to root only.
void set_memory(round_figures& round, server const& running)
{
    if (std::uint64_t const bytes = pss_of(running.pids); bytes != 0)
        round[metric::memory] = static_cast<double>(bytes);
}

std::uint64_t operations_of(scenario_spec const& scenario)
{
    return moves_bytes(scenario) ? scenario.messages : scenario.transactions;
}

// An open loop for about so many transactions: it ends after the time that they take at this rate.
open open_loop(double rate, std::uint64_t transactions, arrivals how, std::uint64_t seed)
{
    std::chrono::duration<double> const length{static_cast<double>(transactions) / rate};
    return {{{std::chrono::ceil<std::chrono::nanoseconds>(length), rate, rate}}, how, seed};
}

void note_streams(result& load, scenario_spec const& scenario)
{
    if (scenario.streams != 0)
        load.asked.emplace_back(
            "HTTP/2", fmt::format("{} streams on each connection", scenario.streams));
}

round_figures measure_load(
    round_load const& round, server& running, std::size_t client_workers, interruption& stop)
{
    scenario_spec const& scenario = round.scenario;
    load_spec use = load_for(scenario, running, operations_of(scenario), client_workers);
    if (round.rate) {
        open loop = open_loop(*round.rate, scenario.transactions, scenario.arrivals, round.seed);
        use.transactions.reset(); // Its duration ends it.
        use.duration = loop.phases.front().length;
        use.loop = std::move(loop);
    }
    std::this_thread::sleep_for(settling);
    std::chrono::nanoseconds const before = cpu_of(running.pids);
    ended_run ended = run_rounds(use, stop, running.pids);
    std::this_thread::sleep_for(settling);
    std::chrono::nanoseconds const spent = cpu_of(running.pids) - before;
    double const cores = ended.server_cores;

    round_figures found;
    result& load = found.load;
    load.rate_asked = round.rate;
    take(load, std::move(ended), use.target);
    if (!running.pids.empty())
        load.server = server_side{running.pids, spent, cores};
    load.verdict = judge(load);
    load.asked = {
        {"scenario", scenario.name},
        round.rate ? fact{"open loop", fmt::format("{:.1f}/s", *round.rate)}
                   : fact{"closed loop", fmt::format("{} connections", scenario.connections)},
        {"TLS", scenario.tls}};
    note_streams(load, scenario);
    set_memory(found, running);
    if (load.counts.ok == 0)
        return found;
    double const count = static_cast<double>(load.counts.ok);
    double const bytes = count * static_cast<double>(scenario.bytes);
    double const seconds = in_seconds(load.measured);
    bool const moves = moves_bytes(scenario);
    if (load.server)
        found[metric::cpu] = static_cast<double>(spent.count()) / (moves ? bytes / 1e9 : count);
    found[metric::rate] = moves ? bytes / seconds : load.rate();
    set_percentiles(found);
    return found;
}

// With strace attached, times say nothing of the server; its calls are the same.
round_figures measure_system_calls(
    round_load const& round, server& running, std::size_t client_workers, interruption& stop)
{
    scenario_spec const& scenario = round.scenario;
    load_spec const use = load_for(scenario, running, scenario.transactions, client_workers);
    call_counter counter{with_children(running.pids), running.folder, stop.before()};
    ended_run ended = run_rounds(use, stop);
    std::this_thread::sleep_for(settling);
    call_counts const counts = counter.stop();

    round_figures found;
    take(found.load, std::move(ended), use.target);
    found.load.asked = {{"scenario", scenario.name}, {"TLS", scenario.tls}};
    auto const done = static_cast<double>(found.load.counts.ok);
    if (done == 0)
        return found;
    double sum = 0;
    for (auto const& [name, count] : counts) {
        found.calls.emplace_back(name, static_cast<double>(count) / done);
        sum += found.calls.back().second;
    }
    std::ranges::stable_sort(
        found.calls, std::ranges::greater{}, [](auto const& each) { return each.second; });
    found[metric::system_calls] = sum;
    return found;
}

// load_for_background keeps the server busy beside established connections.
load_spec load_for_background(
    scenario_spec const& scenario, server const& running, std::size_t workers)
{
    scenario_spec other = scenario;
    other.kind = scenario.beside == background_load::handshakes ? activity::handshake
                                                                : activity::transfer_down;
    other.connections = scenario.beside_connections;
    // Its duration ends it, not a count.
    load_spec use = load_for(other, running, std::numeric_limits<unsigned>::max(), workers);
    use.transactions.reset();
    return use;
}

// load_for_established sends requests on kept connections for the scenario's duration.
load_spec load_for_established(round_load const& round, server const& running, std::size_t workers)
{
    scenario_spec const& scenario = round.scenario;
    load_spec use = load_for(scenario, running, 0, workers);
    use.loop = kept{scenario.connections, scenario.every, round.seed};
    use.transactions.reset();
    use.warm_up = scenario.every + settling_in;
    use.duration = scenario.duration;
    return use;
}

// take_background adds the counts and the rate of the load beside.
void take_background(
    round_figures& round, scenario_spec const& scenario, ended_run ended, load_spec const& use)
{
    result& other = round.beside.emplace();
    take(other, std::move(ended), use.target);
    other.verdict = judge(other);
    double const size = moves_bytes(scenario) ? static_cast<double>(scenario.bytes) : 1;
    if (other.measured.count() > 0)
        round[metric::rate] = other.rate() * size;
}

round_figures measure_established(
    round_load const& round, server& running, std::size_t client_workers, interruption& stop)
{
    scenario_spec const& scenario = round.scenario;
    bool const alone = scenario.beside == background_load::none;
    load_spec const use = load_for_established(round, running, client_workers);
    run_control how;
    how.server_pids = running.pids;
    ended_runs both;
    if (alone)
        both.foreground = run_load(use, how);
    else
        both = run_together(use, load_for_background(scenario, running, client_workers), how);
    if (both.foreground.interrupted) {
        stop.note();
        throw interrupted{};
    }

    round_figures found;
    std::chrono::nanoseconds const spent = both.foreground.server_cpu;
    result& load = found.load;
    if (!running.pids.empty())
        load.server = server_side{running.pids, spent, both.foreground.server_cores};
    load.rate_asked = rate_asked(use);
    take(load, std::move(both.foreground), use.target);
    load.verdict = judge(load);
    load.asked = {
        {"scenario", scenario.name},
        {"kept connections",
         fmt::format(
             "{}, each with a request in {} ms", scenario.connections, scenario.every.count())},
        {"TLS", scenario.tls}};
    note_streams(load, scenario);
    if (!alone)
        take_background(found, scenario, std::move(both.background), use);
    set_memory(found, running);
    if (load.counts.ok == 0)
        return found;
    if (alone)
        found[metric::rate] = load.rate();
    auto const done = static_cast<double>(alone ? load.counts.ok : found.beside->counts.ok);
    double const unit = moves_bytes(scenario) ? static_cast<double>(scenario.bytes) / 1e9 : 1;
    if (done > 0 && load.server)
        found[metric::cpu] = static_cast<double>(spent.count()) / (done * unit);
    set_percentiles(found);
    return found;
}

round_figures measure_idle(scenario_spec const& scenario, server& running, interruption& stop)
{
    tls::context_spec client_spec = client_spec_for(scenario);
    client_spec.server_name = running.server_name;
    tls::context const client{client_spec};
    std::vector<quiet_client> held; // Destroyed before the context, which it uses.
    round_figures found;
    for (unsigned step = 1; step <= idle_steps; ++step) {
        std::size_t const wanted = std::size_t{scenario.connections} * step / idle_steps;
        while (held.size() < wanted) {
            if (stop.asked())
                throw interrupted{};
            connection_attempt attempt = shake_hands(running.address, client, idle_patience);
            if (!attempt.failure.empty())
                throw std::runtime_error{fmt::format(
                    "only {} of {} connections could be opened: {}", held.size(),
                    scenario.connections, attempt.failure)};
            held.push_back(std::move(attempt.client));
        }
        std::this_thread::sleep_for(idle_settling);
        found.idle.emplace_back(
            static_cast<double>(held.size()), static_cast<double>(pss_of(running.pids)));
    }
    found[metric::memory] = slope(found.idle);
    return found;
}

// The same request as by HTTP/1.1: GET of so many bytes.
http2_load http2_for(scenario_spec const& scenario, server const& running)
{
    std::uint64_t const size =
        scenario.kind == activity::transfer_down ? scenario.bytes : scenario.answer;
    return {
        .streams = scenario.streams,
        .requests = {{{
            {":method", "GET"},
            {":scheme", "https"},
            {":authority", running.host.empty() ? running.server_name : running.host},
            {":path", fmt::format("/{}", size)},
        }}},
        .body = {}};
}

} // namespace

load_spec load_for(
    scenario_spec const& scenario, server const& running, std::uint64_t operations,
    std::size_t workers)
{
    load_spec use;
    use.address = running.address;
    use.target = net::to_string(running.address);
    use.tls = client_spec_for(scenario);
    use.tls.server_name = running.server_name;
    std::string const host =
        running.host.empty() ? std::string{} : fmt::format("Host: {}\r\n", running.host);
    use.workers = workers;
    use.duration = round_max;
    use.reuse = {scenario.reuse, std::nullopt, !scenario.session_ids};
    use.transactions = operations;
    unsigned connections = scenario.connections;
    exchange& say = use.exchange;
    // Transfers keep their connections, each of which moves as many messages.
    std::uint64_t const each = std::max<std::uint64_t>(operations / connections, 1);
    switch (scenario.kind) {
    case activity::handshake:
    case activity::system_calls:
    case activity::workers:
        // HTTP/1.0: the origin closes, so the server sends close_notify after the answer.
        say.request = fmt::format("GET /{} HTTP/1.0\r\n{}\r\n", scenario.answer, host);
        say.size = scenario.answer;
        use.finished_alone = scenario.finished_alone;
        break;
    case activity::transfer_down:
        say.request = fmt::format("GET /{} HTTP/1.1\r\n{}\r\n", scenario.bytes, host);
        say.size = scenario.bytes;
        say.requests = static_cast<unsigned>(each);
        use.transactions = each * connections;
        break;
    case activity::transfer_up:
        say.request =
            fmt::format("POST / HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n", host, scenario.bytes) +
            std::string(scenario.bytes, 'x');
        say.requests = static_cast<unsigned>(each);
        use.transactions = each * connections;
        break;
    case activity::established:
        say.request = fmt::format("GET /{} HTTP/1.1\r\n{}\r\n", scenario.answer, host);
        say.size = scenario.answer;
        break;
    case activity::idle:
        say.request = fmt::format("GET /1024 HTTP/1.0\r\n{}\r\n", host);
        connections = 4;
        break;
    }
    if (scenario.streams != 0) {
        use.http2 = http2_for(scenario, running);
        say.request.clear();
    }
    use.loop = closed{connections};
    return use;
}

round_figures measure(
    round_load const& round, server& running, std::size_t client_workers, interruption& stop)
{
    scenario_spec const& scenario = round.scenario;
    if (scenario.kind == activity::established)
        return measure_established(round, running, client_workers, stop);
    if (scenario.warm_up != 0)
        static_cast<void>(
            run_rounds(load_for(scenario, running, scenario.warm_up, client_workers), stop));
    if (scenario.kind == activity::idle)
        return measure_idle(scenario, running, stop);
    if (scenario.kind == activity::system_calls)
        return measure_system_calls(round, running, client_workers, stop);
    return measure_load(round, running, client_workers, stop);
}

} // namespace cleat::bench
