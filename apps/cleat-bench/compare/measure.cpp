#include "compare/measure.hpp"
#include "compare/quiet_client.hpp"
#include "generate/run.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// What a server does behind the last answer is done by then, and belongs to what came before.
constexpr auto settling = 50ms;
constexpr auto idle_settling = 500ms;
constexpr unsigned idle_steps = 4;
// A round that takes longer ends there, with what was done until then.
constexpr auto round_max = 120s;
constexpr auto idle_patience = 5s;
// Established connections are all there, and their company is at its pace.
constexpr auto settling_in = 2s;

ended_run run(load_spec const& use, interruption& stop)
{
    ended_run found = run_load(use);
    if (found.interrupted) {
        stop.note();
        throw interrupted{};
    }
    return found;
}

// take puts what a run came to into its result.
void take(result& into, ended_run ended, std::string const& target)
{
    into.target = target;
    into.started = ended.started;
    into.measured = ended.measured;
    into.counts = std::move(ended.counts);
    into.drain = ended.drain;
    take_workers(into, ended.workers);
}

std::uint64_t operations_of(scenario const& what)
{
    return what.kind == activity::handshake ? what.transactions : what.messages;
}

// Begins so many transactions when they are due, and takes as long as that takes.
open open_loop(double rate, std::uint64_t transactions, arrivals how, std::uint64_t seed)
{
    std::chrono::duration<double> const length{static_cast<double>(transactions) / rate};
    return {{{std::chrono::ceil<std::chrono::nanoseconds>(length), rate, rate}}, how, seed};
}

round_figures measure_load(
    asked_of const& asked, server& on, std::size_t client_workers, interruption& stop)
{
    scenario const& what = asked.what;
    load_spec use = load_for(what, on.at, operations_of(what), client_workers);
    if (asked.rate) {
        open loop = open_loop(*asked.rate, what.transactions, what.arrivals, asked.seed);
        use.transactions.reset(); // It ends with its time.
        use.duration = loop.phases.front().length;
        use.loop = std::move(loop);
    }
    std::vector<int> const pids{on.process.pid()};
    std::this_thread::sleep_for(settling);
    std::chrono::nanoseconds const before = on.process.cpu();
    ended_run ended = run(use, stop);
    std::this_thread::sleep_for(settling);
    std::chrono::nanoseconds const spent = on.process.cpu() - before;

    round_figures found;
    result& load = found.load;
    load.rate_asked = asked.rate;
    take(load, std::move(ended), use.target);
    double const length = in_seconds(load.measured + load.drain);
    load.server = server_side{pids, spent, length > 0 ? in_seconds(spent) / length : 0};
    load.verdict = judge(load);
    load.asked = {
        {"scenario", what.name},
        asked.rate ? fact{"open loop", fmt::format("{:.1f}/s", *asked.rate)}
                   : fact{"closed loop", fmt::format("{} connections", what.connections)},
        {"TLS", what.tls}};
    found[metric::memory] = static_cast<double>(pss_of(pids));
    if (load.counts.ok == 0)
        return found;
    double const count = static_cast<double>(load.counts.ok);
    double const bytes = count * static_cast<double>(what.bytes);
    double const seconds = in_seconds(load.measured);
    bool const moves = what.kind != activity::handshake;
    found[metric::cpu] = static_cast<double>(spent.count()) / (moves ? bytes / 1e9 : count);
    found[metric::rate] = moves ? bytes / seconds : load.rate();
    found[metric::p50] = static_cast<double>(load.counts.response.percentile(50));
    found[metric::p99] = static_cast<double>(load.counts.response.percentile(99));
    return found;
}

// load_for_company is what keeps the server busy beside established connections.
load_spec load_for_company(scenario const& what, net::address const& to, std::size_t workers)
{
    scenario other = what;
    other.kind = what.beside == company::handshakes ? activity::handshake : activity::transfer_down;
    other.connections = what.beside_connections;
    // It ends with its time.
    load_spec use = load_for(other, to, std::numeric_limits<unsigned>::max(), workers);
    use.transactions.reset();
    return use;
}

// load_for_established connections asks as the scenario says, for its time.
load_spec load_for_established(asked_of const& asked, net::address const& to, std::size_t workers)
{
    scenario const& what = asked.what;
    load_spec use = load_for(what, to, 0, workers);
    use.loop = kept{what.connections, what.every, asked.seed};
    use.transactions.reset();
    use.warm_up = what.every + settling_in;
    use.duration = what.duration;
    return use;
}

// take_company puts in what the others have done, and how much of it per second.
void take_company(round_figures& into, scenario const& what, ended_run ended, load_spec const& use)
{
    result& other = into.beside.emplace();
    take(other, std::move(ended), use.target);
    other.verdict = judge(other);
    double const size = moves_bytes(what) ? static_cast<double>(what.bytes) : 1;
    if (other.measured.count() > 0)
        into[metric::rate] = other.rate() * size;
}

round_figures measure_established(
    asked_of const& asked, server& on, std::size_t client_workers, interruption& stop)
{
    scenario const& what = asked.what;
    bool const alone = what.beside == company::none;
    load_spec const use = load_for_established(asked, on.at, client_workers);
    run_control how;
    how.server_pids = {on.process.pid()};
    ended_runs both;
    if (alone)
        both.foreground = run_load(use, how);
    else
        both = run_together(use, load_for_company(what, on.at, client_workers), how);
    if (both.foreground.interrupted) {
        stop.note();
        throw interrupted{};
    }

    round_figures found;
    std::chrono::nanoseconds const spent = both.foreground.server_cpu;
    result& load = found.load;
    load.server = server_side{how.server_pids, spent, both.foreground.server_cores};
    load.rate_asked = rate_asked(use);
    take(load, std::move(both.foreground), use.target);
    load.verdict = judge(load);
    load.asked = {
        {"scenario", what.name},
        {"kept connections",
         fmt::format("{}, each with a request in {} ms", what.connections, what.every.count())},
        {"TLS", what.tls}};
    if (!alone)
        take_company(found, what, std::move(both.background), use);
    found[metric::memory] = static_cast<double>(pss_of(how.server_pids));
    if (load.counts.ok == 0)
        return found;
    if (alone)
        found[metric::rate] = load.rate();
    auto const done = static_cast<double>(alone ? load.counts.ok : found.beside->counts.ok);
    double const unit = moves_bytes(what) ? static_cast<double>(what.bytes) / 1e9 : 1;
    if (done > 0)
        found[metric::cpu] = static_cast<double>(spent.count()) / (done * unit);
    found[metric::p50] = static_cast<double>(load.counts.response.percentile(50));
    found[metric::p99] = static_cast<double>(load.counts.response.percentile(99));
    return found;
}

round_figures measure_idle(scenario const& what, server& on, interruption& stop)
{
    tls::context const client{client_for(what)};
    std::vector<quiet_client> held; // Goes before the context that it is made of.
    round_figures found;
    for (unsigned step = 1; step <= idle_steps; ++step) {
        std::size_t const wanted = std::size_t{what.connections} * step / idle_steps;
        while (held.size() < wanted) {
            if (stop.asked())
                throw interrupted{};
            attempted one = shake_hands(on.at, client, idle_patience);
            if (!one.failure.empty())
                throw std::runtime_error{fmt::format(
                    "only {} of {} connections could be opened: {}", held.size(), what.connections,
                    one.failure)};
            held.push_back(std::move(one.client));
        }
        std::this_thread::sleep_for(idle_settling);
        found.idle.emplace_back(
            static_cast<double>(held.size()), static_cast<double>(pss_of({on.process.pid()})));
    }
    found[metric::memory] = slope(found.idle);
    return found;
}

} // namespace

load_spec load_for(
    scenario const& what, net::address const& to, std::uint64_t operations, std::size_t workers)
{
    load_spec use;
    use.address = to;
    use.target = net::to_string(to);
    use.tls = client_for(what);
    use.workers = workers;
    use.duration = round_max;
    use.reuse = {what.reuse, std::nullopt, !what.session_ids};
    use.transactions = operations;
    unsigned connections = what.connections;
    exchange& say = use.exchange;
    // Transfers keep their connections, each of which moves as many messages.
    std::uint64_t const each = std::max<std::uint64_t>(operations / connections, 1);
    switch (what.kind) {
    case activity::handshake:
        // HTTP/1.0: the origin closes, so the server says close_notify behind the answer.
        say.request = fmt::format("GET /{} HTTP/1.0\r\n\r\n", what.answer);
        say.size = what.answer;
        use.finished_alone = what.finished_alone;
        break;
    case activity::transfer_down:
        say.request = fmt::format("GET /{} HTTP/1.1\r\n\r\n", what.bytes);
        say.size = what.bytes;
        say.requests = static_cast<unsigned>(each);
        use.transactions = each * connections;
        break;
    case activity::transfer_up:
        say.request = fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", what.bytes) +
                      std::string(what.bytes, 'x');
        say.requests = static_cast<unsigned>(each);
        use.transactions = each * connections;
        break;
    case activity::established:
        say.request = fmt::format("GET /{} HTTP/1.1\r\n\r\n", what.answer);
        say.size = what.answer;
        break;
    case activity::idle:
        say.request = "GET /1024 HTTP/1.0\r\n\r\n";
        connections = 4;
        break;
    }
    use.loop = closed{connections};
    return use;
}

round_figures measure(
    asked_of const& asked, server& on, std::size_t client_workers, interruption& stop)
{
    scenario const& what = asked.what;
    if (what.kind == activity::established)
        return measure_established(asked, on, client_workers, stop);
    if (what.warm_up != 0)
        static_cast<void>(run(load_for(what, on.at, what.warm_up, client_workers), stop));
    return what.kind == activity::idle ? measure_idle(what, on, stop)
                                       : measure_load(asked, on, client_workers, stop);
}

} // namespace cleat::bench
