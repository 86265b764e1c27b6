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

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

// The least that a server can need for a connection: its keys, its state, its buffers' heads. Any
// library needs several times as much.
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

bool grew(held const& from, held const& to) noexcept
{
    std::uint64_t const more = to.connections - from.connections;
    return to.bytes > from.bytes && to.bytes - from.bytes >= more * connection_min;
}

std::vector<held> telling(std::vector<held> const& points)
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

std::optional<double> cost_of(std::vector<held> const& points)
{
    std::vector<held> const of = telling(points);
    if (of.size() < 2)
        return std::nullopt;
    return slope(of);
}

namespace {

// measure opens so many connections, and looks at the memory when they have been left alone for a
// while. Nothing where the user ended it. Throws std::runtime_error where some cannot be opened.
std::optional<held> measure(do_idle const& wish, unsigned count)
{
    do_load const& base = wish.load;
    load_spec use = base.use;
    std::uint64_t const all = std::uint64_t{count} * use.say.requests;
    use.hold = true;
    use.arrive = closed{count};
    use.transactions = all;
    use.duration = std::chrono::hours{1};
    std::optional<held> found;
    std::optional<std::chrono::nanoseconds> full;
    conduct how;
    how.every = std::chrono::milliseconds{50};
    how.watch = [&](glimpse const& seen) {
        std::uint64_t failed = 0;
        for (auto const& [what, number] : seen.failures)
            failed += number;
        // A connection that fails begins none of its other transactions.
        if (seen.ok + failed * use.say.requests < all)
            return proceed::on;
        if (!full)
            full = seen.since_begin;
        if (seen.since_begin - *full < wish.settle)
            return proceed::on;
        found = held{count, pss_of(base.server_pids)};
        return proceed::stop;
    };
    ended_run const run = run_load(use, how);
    if (run.interrupted)
        return std::nullopt;
    if (run.counts.failed() != 0) {
        failure const& what = run.counts.failures.begin()->first;
        throw std::runtime_error{fmt::format(
            "{} of {} connections failed ({}: {}): memory per connection is not known; does "
            "the server have a limit, or too few files?",
            run.counts.failed(), count, name_of(what.where), what.kind)};
    }
    return found;
}

json::object document_of(
    do_load const& base, result const& whole, std::vector<held> const& points, bool partial)
{
    json::array levels;
    for (std::size_t i = 0; i != points.size(); ++i)
        levels.push_back(json::object{
            {"connections", points[i].connections},
            {"pss_bytes", points[i].bytes},
            {"flat", i != 0 && !grew(points[i - 1], points[i])}});
    auto const each = cost_of(points);
    return {
        {"cleat_bench", document_version},
        {"kind", "idle"},
        {"name", base.name},
        {"command", base.command},
        {"target", base.use.target},
        {"started", in_utc(whole.started)},
        {"partial", partial},
        {"levels", std::move(levels)},
        {"bytes_per_connection", each ? json::value(*each) : json::value(nullptr)},
        {"environment", in_json(whole.environment)}};
}

void print_level(held const& from, held const& here)
{
    double const more = static_cast<double>(here.bytes) - static_cast<double>(from.bytes);
    fmt::print(
        "  {:>8} connections  {:>10}  {}\n", here.connections,
        bytes_in_words(static_cast<double>(here.bytes)),
        grew(from, here)
            ? fmt::format(
                  "{:.2f} KiB for each more", more / (here.connections - from.connections) / 1024)
            : "flat: the server had that memory already");
    std::fflush(stdout);
}

void print_cost(std::string const& target, std::vector<held> const& points)
{
    if (auto const each = cost_of(points)) {
        bool const flat = telling(points).size() != points.size();
        fmt::print(
            "\n{}: {:.2f} KiB for each idle connection{}\n", target, *each / 1024,
            flat ? ", without the levels that are flat" : "");
        return;
    }
    if (points.size() > 1)
        fmt::print(
            "\n{}: not known: memory did not grow; restart the server (it keeps what it needed for "
            "connections before), or hold more\n",
            target);
}

} // namespace

int idle(do_idle const& wish)
{
    do_load const& base = wish.load;
    check_writable(base.to);
    interruption stop;                 // Between two levels nobody else would wait for one.
    result whole = begin_result(base); // Its one transaction has also warmed the server up.
    whole.started = std::chrono::system_clock::now();
    std::vector<held> points{{0, pss_of(base.server_pids)}};
    if (points.front().bytes == 0)
        throw std::runtime_error{
            "the kernel does not show the memory of the server's processes: run as their user, or "
            "as root"};

    // Ascending, so what the server kept from one level is less than what the next one needs.
    bool partial = false;
    for (unsigned const count : wish.counts) {
        std::optional<held> const here = stop.asked() ? std::nullopt : measure(wish, count);
        partial = !here;
        if (partial)
            break;
        print_level(points.back(), *here);
        points.push_back(*here);
    }
    if (partial)
        fmt::print("\nPARTIAL: this run was ended before its time\n");
    print_cost(base.use.target, points);
    std::fflush(stdout);
    write_documents(document_of(base, whole, points, partial), base.to);
    return partial ? 130 : cost_of(points) ? 0 : 1;
}

} // namespace cleat::bench
