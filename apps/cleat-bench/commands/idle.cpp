#include "commands/idle.hpp"
#include "commands/load.hpp"
#include "report/documents.hpp"
#include "result/environment.hpp"
#include "result/result_json.hpp"
#include "system/interruption.hpp"
#include "system/processes.hpp"
#include "text/json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

// The minimum of a connection in bytes: keys, state, heads of buffers. Every TLS library needs
// several times as much.
constexpr std::uint64_t connection_min = 512;

} // namespace

double slope(std::vector<held> const& points) noexcept
{
    double const n = static_cast<double>(points.size());
    double x = 0;
    double y = 0;
    for (held const& each : points) {
        x += each.connections / n;
        y += static_cast<double>(each.bytes) / n;
    }
    double over = 0;
    double under = 0;
    for (held const& each : points) {
        over += (each.connections - x) * (static_cast<double>(each.bytes) - y);
        under += (each.connections - x) * (each.connections - x);
    }
    return under == 0 ? 0 : over / under;
}

bool grew(held const& before, held const& after) noexcept
{
    std::uint64_t const more = after.connections - before.connections;
    return after.bytes > before.bytes && after.bytes - before.bytes >= more * connection_min;
}

std::vector<held> growing_points(std::vector<held> const& points)
{
    std::vector<held> found;
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (!grew(points[i - 1], points[i]))
            continue;
        if (i == 1)
            found.push_back(points.front());
        found.push_back(points[i]);
    }
    return found;
}

std::optional<double> connection_bytes(std::vector<held> const& points)
{
    std::vector<held> const growing = growing_points(points);
    if (growing.size() < 2)
        return std::nullopt;
    return slope(growing);
}

namespace {

void check_level(tally const& counts, unsigned count, std::size_t still_open)
{
    if (counts.failed() != 0) {
        failure const& first = counts.failures.begin()->first;
        throw std::runtime_error{fmt::format(
            "{} of {} connections failed ({}: {}): memory per connection is not known; does "
            "the server have a limit, or too few files?",
            counts.failed(), count, name_of(first.stage), first.kind)};
    }
    if (still_open < count)
        throw std::runtime_error{fmt::format(
            "the server ended {} of {} connections while they were idle: memory per connection is "
            "not known; let it keep idle connections for longer, or measure earlier with a shorter "
            "--settle",
            count - still_open, count)};
}

// measure opens so many connections and reads the memory after the time to settle. Nothing when the
// user ended it. Throws std::runtime_error if a connection cannot be opened, or does not stay open.
std::optional<held> measure_level(idle_request const& request, unsigned count)
{
    load_request const& base = request.load;
    load_spec spec = base.spec;
    std::uint64_t const all = std::uint64_t{count} * spec.exchange.requests;
    spec.hold = true;
    spec.loop = closed{count};
    spec.transactions = all;
    spec.duration = std::chrono::hours{1};
    std::optional<held> found;
    std::size_t still_open = 0; // Where the server ends all of them, the run has an end of its own.
    std::optional<std::chrono::nanoseconds> all_open_since;
    run_control control;
    control.period = std::chrono::milliseconds{50};
    control.watch = [&](progress const& now) {
        std::uint64_t failed = 0;
        for (auto const& [failure, number] : now.failures)
            failed += number;
        // A connection that fails begins none of its other transactions.
        if (now.ok + failed * spec.exchange.requests < all)
            return proceed::go_on;
        if (!all_open_since)
            all_open_since = now.since_begin;
        if (now.since_begin - *all_open_since < request.settle)
            return proceed::go_on;
        found = held{count, pss_of(base.server_pids)};
        still_open = now.in_flight;
        return proceed::stop;
    };
    ended_run const run = run_load(spec, control);
    if (run.interrupted)
        return std::nullopt;
    check_level(run.counts, count, still_open);
    return found;
}

json::object idle_document(
    load_request const& base, result const& whole, std::vector<held> const& points, bool partial)
{
    json::array levels;
    for (std::size_t i = 0; i != points.size(); ++i)
        levels.push_back(json::object{
            {"connections", points[i].connections},
            {"pss_bytes", points[i].bytes},
            {"flat", i != 0 && !grew(points[i - 1], points[i])}});
    auto const each = connection_bytes(points);
    return {
        {"cleat_bench", document_version},
        {"kind", "idle"},
        {"name", base.name},
        {"command", base.command},
        {"target", base.spec.target},
        {"http2", base.spec.http2.has_value()},
        {"started", in_utc(whole.started)},
        {"partial", partial},
        {"levels", std::move(levels)},
        {"bytes_per_connection", each ? json::value(*each) : json::value(nullptr)},
        {"environment", in_json(whole.environment)}};
}

void print_level(held const& before, held const& after)
{
    double const more = static_cast<double>(after.bytes) - static_cast<double>(before.bytes);
    fmt::print(
        "  {:>8} connections  {:>10}  {}\n", after.connections,
        bytes_in_words(static_cast<double>(after.bytes)),
        grew(before, after) ? fmt::format(
                                  "{:.2f} KiB for each more",
                                  more / (after.connections - before.connections) / 1024)
                            : "flat: the server had that memory already");
    std::fflush(stdout);
}

void print_cost(load_spec const& spec, std::vector<held> const& points)
{
    std::string const& target = spec.target;
    if (auto const each = connection_bytes(points)) {
        bool const flat = growing_points(points).size() != points.size();
        fmt::print(
            "\n{}: {:.2f} KiB for each idle connection{}{}\n", target, *each / 1024,
            spec.http2 ? " by HTTP/2" : "", flat ? ", without the levels that are flat" : "");
        return;
    }
    if (std::vector<held> const grown = growing_points(points); grown.size() == 1) {
        auto const after = std::ranges::find(points, grown.front().connections, &held::connections);
        auto const before = std::prev(after);
        fmt::print(
            "\n{}: not known: memory grew at one level only, by {:.2f} KiB for each connection "
            "more, "
            "and one level has no slope; hold more, or give more --counts\n",
            target,
            static_cast<double>(after->bytes - before->bytes) /
                (after->connections - before->connections) / 1024);
        return;
    }
    if (points.size() > 1)
        fmt::print(
            "\n{}: not known: memory did not grow; restart the server (it keeps what it needed for "
            "connections before), or hold more\n",
            target);
}

} // namespace

int idle(idle_request const& request)
{
    load_request const& base = request.load;
    check_writable(files_of(base));
    interruption stop;                 // A run takes signals; this one those between two runs.
    result whole = begin_result(base); // Its one transaction warms the server up.
    whole.started = std::chrono::system_clock::now();
    std::vector<held> points{{0, pss_of(base.server_pids)}};
    if (points.front().bytes == 0)
        throw std::runtime_error{
            "the kernel does not show the memory of the server's processes: run as their user, or "
            "as root"};

    // Ascending, so what the server kept from one level is less than what the next one needs.
    bool partial = false;
    for (unsigned const count : request.counts) {
        std::optional<held> const level =
            stop.asked() ? std::nullopt : measure_level(request, count);
        partial = !level;
        if (partial)
            break;
        print_level(points.back(), *level);
        points.push_back(*level);
    }
    if (partial)
        fmt::print("\nPARTIAL: this run was ended before its time\n");
    print_cost(base.spec, points);
    std::fflush(stdout);
    write_documents(idle_document(base, whole, points, partial), base.output);
    return partial ? 130 : connection_bytes(points) ? 0 : 1;
}

} // namespace cleat::bench
