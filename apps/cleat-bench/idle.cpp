#include "environment.hpp"
#include "idle.hpp"
#include "json.hpp"
#include "load.hpp"
#include "processes.hpp"
#include "times.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace cleat::bench {

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

int idle(do_idle const& wish)
{
    do_load const& base = wish.load;
    check_writable(base.to);
    result whole = begin_result(base); // Its one transaction has also warmed the server up.
    std::vector<held> points{{0, pss_of(base.server_pids)}};
    if (points.front().bytes == 0)
        throw std::runtime_error{
            "the kernel does not show the memory of the server's processes: run as their user, or "
            "as root"};

    // Ascending, so what the server kept from one level is less than what the next one needs.
    for (unsigned const count : wish.counts) {
        load_spec use = base.use;
        use.hold = true;
        use.arrive = closed{count};
        use.transactions = count;
        use.duration = std::chrono::hours{1};
        held here{count, 0};
        std::optional<std::chrono::nanoseconds> full;
        conduct how;
        how.every = std::chrono::milliseconds{50};
        how.watch = [&](glimpse const& seen) {
            std::uint64_t failed = 0;
            for (auto const& [what, number] : seen.failures)
                failed += number;
            if (seen.ok + failed < count)
                return proceed::on;
            if (!full)
                full = seen.since_begin;
            if (seen.since_begin - *full < wish.settle)
                return proceed::on;
            here.bytes = pss_of(base.server_pids);
            return proceed::stop;
        };
        ended_run run = run_load(use, how);
        if (run.interrupted)
            return 130;
        if (run.counts.failed() != 0) {
            failure const& what = run.counts.failures.begin()->first;
            throw std::runtime_error{fmt::format(
                "{} of {} connections failed ({}: {}): memory per connection is not known; does "
                "the server have a limit, or too few files?",
                run.counts.failed(), count, name_of(what.where), what.kind)};
        }
        points.push_back(here);
        fmt::print(
            "  {:>8} connections  {:>10}  {:.2f} KiB each\n", count,
            bytes_in_words(static_cast<double>(here.bytes)),
            (static_cast<double>(here.bytes) - static_cast<double>(points.front().bytes)) / count /
                1024);
        std::fflush(stdout);
    }
    double const each = slope(points);
    fmt::print("\n{}: {:.2f} KiB for each idle connection\n", base.use.target, each / 1024);
    if (!base.to.json.empty()) {
        json::array levels;
        for (held const& at : points)
            levels.push_back(
                json::object{{"connections", at.connections}, {"pss_bytes", at.bytes}});
        json::array environment;
        for (auto const& [name, value] : whole.environment)
            environment.push_back(json::array{name, value});
        write_file(
            base.to.json, json::serialize(json::object{
                              {"cleat_bench", 1},
                              {"kind", "idle"},
                              {"name", base.name},
                              {"command", base.command},
                              {"target", base.use.target},
                              {"levels", std::move(levels)},
                              {"bytes_per_connection", each},
                              {"environment", std::move(environment)}}) +
                              "\n");
    }
    return 0;
}

} // namespace cleat::bench
