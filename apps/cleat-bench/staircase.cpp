#include "environment.hpp"
#include "live_view.hpp"
#include "load.hpp"
#include "report.hpp"
#include "result_json.hpp"
#include "run.hpp"
#include "staircase.hpp"
#include "times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace cleat::bench {
namespace {

// The first steps, of which the mean response is that of an idle server.
constexpr std::size_t calm_steps = 3;

template <class Good>
summit highest(std::string criterion, std::vector<stair> const& stairs, Good good)
{
    summit found{std::move(criterion), {}};
    for (stair const& each : stairs) {
        if (each.counts.attempted == 0)
            continue;
        if (each.counts.ok == 0 || !good(each))
            break;
        found.rate = each.rate;
    }
    return found;
}

std::string text_of(std::vector<stair> const& stairs, result const& whole)
{
    std::string text;
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out, "  {:>10}{:>12}{:>12}{:>10}{:>14}{:>14}\n", "asked/s", "attempted", "ok", "failed",
        "mean response", "max response");
    for (stair const& each : stairs)
        fmt::format_to(
            out, "  {:>10.0f}{:>12}{:>12}{:>9.3g}%{:>14}{:>14}\n", each.rate, each.counts.attempted,
            each.counts.ok, each.failed_share() * 100, in_words(each.response_ns()),
            in_words(static_cast<double>(each.counts.response_ns_max)));
    fmt::format_to(out, "\n");
    for (summit const& each : summits(stairs))
        fmt::format_to(
            out, "  highest rate with {:26} {}\n", each.criterion,
            each.rate ? fmt::format("{:.0f}/s", *each.rate) : "none");
    if (auto const at = knee(stairs))
        fmt::format_to(out, "  knee{:40}{:.0f}/s\n", "", *at);
    if (!stairs.empty() && !broken(stairs.back()) && !whole.partial)
        fmt::format_to(out, "  The server did not break: go on to higher rates with --to.\n");
    for (std::size_t i = 0; i != whole.verdict.limits.size(); ++i)
        fmt::format_to(
            out, "\nCLIENT-LIMITED: {}.\n  These figures are not the server's: {}.\n",
            whole.verdict.limits[i], whole.verdict.cures[i]);
    return text;
}

std::string json_of(std::vector<stair> const& stairs, result const& whole)
{
    json::array steps;
    for (stair const& each : stairs)
        steps.push_back(json::object{
            {"rate", each.rate},
            {"attempted", each.counts.attempted},
            {"ok", each.counts.ok},
            {"failed", each.counts.failed},
            {"response_mean_ns", each.response_ns()},
            {"response_max_ns", each.counts.response_ns_max}});
    json::array highest_rates;
    for (summit const& each : summits(stairs))
        highest_rates.push_back(json::object{
            {"criterion", each.criterion},
            {"rate", each.rate ? json::value(*each.rate) : json::value(nullptr)}});
    json::object document = document_of(whole); // Also a load's result, for merge and report.
    document["steps"] = std::move(steps);
    document["highest"] = std::move(highest_rates);
    if (auto const at = knee(stairs))
        document["knee"] = *at;
    return json::serialize(document) + "\n";
}

} // namespace

double stair::failed_share() const noexcept
{
    std::uint64_t const all = std::max(counts.attempted, counts.failed);
    return all == 0 ? 0 : static_cast<double>(counts.failed) / static_cast<double>(all);
}

double stair::response_ns() const noexcept
{
    return counts.ok == 0
               ? 0
               : static_cast<double>(counts.response_ns) / static_cast<double>(counts.ok);
}

std::vector<stair> stairs_of(
    std::vector<interval> const& timeline, std::vector<phase> const& phases,
    std::chrono::nanoseconds interval_length)
{
    std::vector<stair> found;
    std::chrono::nanoseconds begin{};
    for (phase const& each : phases) {
        std::chrono::nanoseconds const end = begin + each.length;
        stair one{(each.rate_begin + each.rate_end) / 2, {}};
        auto const last =
            std::min<std::size_t>(timeline.size(), static_cast<std::size_t>(end / interval_length));
        for (auto i = static_cast<std::size_t>(begin / interval_length); i < last; ++i)
            add(one.counts, timeline[i]);
        begin = end;
        if (one.counts.attempted == 0)
            break; // The run was ended before it.
        found.push_back(one);
        if (broken(one))
            break; // What is asked while it is found out tells nothing more.
    }
    return found;
}

bool broken(stair const& at) noexcept
{
    return at.failed_share() > 0.05 || at.response_ns() > 1e9 ||
           static_cast<double>(at.counts.ok) < 0.7 * static_cast<double>(at.counts.attempted);
}

std::vector<summit> summits(std::vector<stair> const& stairs)
{
    return {
        highest(
            "mean response below 100 ms", stairs,
            [](stair const& s) { return s.response_ns() < 100e6; }),
        highest(
            "mean response below 500 ms", stairs,
            [](stair const& s) { return s.response_ns() < 500e6; }),
        highest(
            "failures below 0.01 %", stairs,
            [](stair const& s) { return s.failed_share() < 0.0001; }),
        highest(
            "failures below 0.1 %", stairs,
            [](stair const& s) { return s.failed_share() < 0.001; }),
    };
}

std::optional<double> knee(std::vector<stair> const& stairs)
{
    std::vector<double> calm;
    for (std::size_t i = 0; i != std::min(stairs.size(), calm_steps); ++i)
        calm.push_back(stairs[i].response_ns());
    if (calm.empty())
        return std::nullopt;
    std::ranges::sort(calm);
    double const limit = 3 * calm[calm.size() / 2];
    return highest(
               "", stairs,
               [limit](stair const& s) {
                   return s.response_ns() <= limit &&
                          static_cast<double>(s.counts.ok) >=
                              0.99 * static_cast<double>(s.counts.attempted);
               })
        .rate;
}

int staircase(do_staircase const& wish)
{
    do_load const& base = wish.load;
    check_writable(base.to);
    load_spec const& use = base.use;
    open const& loop = std::get<open>(use.arrive);
    result whole = begin_result(base);
    std::optional<live_view> view;
    if (!base.to.quiet)
        view.emplace(use, base.server_pids);

    // A step counts once it is over, and what it asked for had a little time to end.
    std::size_t judged = 0;
    conduct how;
    how.start_at = base.start_at;
    how.every = std::chrono::milliseconds{500};
    how.watch = [&](glimpse const& seen) {
        if (view && (live_view::on_terminal() || judged % 10 == 0))
            view->show(seen);
        std::vector<stair> const so_far = stairs_of(seen.timeline, loop.phases, use.interval);
        while (judged < so_far.size() &&
               seen.since_begin > loop.phases.front().length * static_cast<int>(judged + 1))
            if (broken(so_far[judged++]))
                return proceed::finish;
        return proceed::on;
    };
    run_into(whole, base, how);
    view.reset();
    // The steps that were not climbed were not asked for.
    whole.rate_asked = static_cast<double>(whole.counts.attempts) / in_seconds(whole.measured);

    std::vector<stair> const stairs = stairs_of(whole.counts.timeline, loop.phases, use.interval);
    fmt::print(
        "{}{}", whole.partial ? "PARTIAL: this run was ended before its time\n" : "",
        text_of(stairs, whole));
    std::fflush(stdout);
    if (!base.to.json.empty())
        write_file(base.to.json, json_of(stairs, whole));
    if (!base.to.html.empty())
        write_file(base.to.html, to_html({whole}));
    return whole.partial ? 130 : whole.counts.ok == 0 ? 1 : 0;
}

} // namespace cleat::bench
