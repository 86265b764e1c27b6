#include "commands/live_view.hpp"
#include "commands/load.hpp"
#include "commands/staircase.hpp"
#include "generate/run.hpp"
#include "report/documents.hpp"
#include "result/environment.hpp"
#include "result/result_json.hpp"
#include "system/cpu_quota.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// A step breaks the server where more fail, or where the mean response is longer.
constexpr double step_failed_max = 0.05;
constexpr double step_response_max_ns = 1e9;

// The first steps: the shortest mean response of these is that of an idle server.
constexpr std::size_t calm_steps = 3;

template <class Good>
summit highest(std::string criterion, std::vector<stair> const& stairs, Good good)
{
    summit found{std::move(criterion), {}};
    for (stair const& each : stairs) {
        if (each.counts.attempted == 0)
            continue;
        if (each.counts.ok == 0 || !each.settled() || broken(each) || !kept_up(each) || !good(each))
            break;
        found.rate = each.rate;
    }
    return found;
}

// The most ends per second in a step, whenever these transactions began.
double plateau(std::vector<stair> const& stairs)
{
    double most = 0;
    for (stair const& each : stairs)
        most = std::max(most, each.done_rate());
    return most;
}

std::string text_of(std::vector<stair> const& stairs, result const& whole)
{
    std::string text;
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out, "\n  {:>10}{:>10}{:>12}{:>12}{:>10}{:>15}{:>14}\n", "asked/s", "done/s", "attempted",
        "ok", "failed", "mean response", "max response");
    for (stair const& each : stairs)
        fmt::format_to(
            out, "  {:>10.0f}{:>10.0f}{:>12}{:>12}{:>9.3g}%{:>15}{:>14}{}\n", each.rate,
            each.done_rate(), each.counts.attempted, each.counts.ok, each.failed_share() * 100,
            in_words(each.response_ns()),
            in_words(static_cast<double>(each.counts.response_ns_max)),
            !each.settled() ? "  cut off"
            : broken(each)  ? "  broken"
            : kept_up(each) ? ""
                            : "  did not keep up");
    fmt::format_to(out, "\n");
    for (stair const& each : stairs)
        if (std::string const fault = fault_of(each); !fault.empty())
            fmt::format_to(out, "  {:.0f}/s: {}\n", each.rate, fault);
    if (double const most = plateau(stairs); most > 0)
        fmt::format_to(out, "  most done in a second{:23}{:.0f}/s\n", "", most);
    for (summit const& each : summits(stairs))
        fmt::format_to(
            out, "  highest rate with {:26} {}\n", each.criterion,
            each.rate ? fmt::format("{:.0f}/s", *each.rate) : "none");
    if (auto const rate = knee(stairs))
        fmt::format_to(out, "  knee{:40}{:.0f}/s\n", "", *rate);
    if (!stairs.empty() && !broken(stairs.back()) && !whole.partial)
        fmt::format_to(out, "  The server did not break: go on to higher rates with --to.\n");
    if (whole.verdict.client_limited())
        fmt::format_to(
            out, "\nCLIENT-LIMITED: these rates are not the server's; see above how to go on.\n");
    return text;
}

json::object staircase_document(std::vector<stair> const& stairs, result const& whole)
{
    json::array steps;
    for (stair const& each : stairs)
        steps.push_back(json::object{
            {"rate", each.rate},
            {"length_ns", each.length.count()},
            {"attempted", each.counts.attempted},
            {"ok", each.counts.ok},
            {"failed", each.counts.failed},
            {"done", each.done},
            {"broken", each.settled() && broken(each)},
            {"kept_up", kept_up(each)},
            {"fault", fault_of(each)},
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
    if (auto const rate = knee(stairs))
        document["knee"] = *rate;
    return document;
}

// True: one of the steps that are over has certainly broken the server.
bool any_lost(
    progress const& now, std::vector<phase> const& phases, std::chrono::nanoseconds interval_length)
{
    std::chrono::nanoseconds end{};
    for (stair const& one : stairs_of(now.timeline, now.by_start, phases, interval_length)) {
        end += one.length;
        if (now.since_begin <= end)
            return false;
        if (lost(one, now.since_begin - end))
            return true;
    }
    return false;
}

} // namespace

bool stair::settled() const noexcept
{
    return counts.ok + counts.failed >= counts.attempted;
}

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

double stair::done_rate() const noexcept
{
    return length > 0ns ? static_cast<double>(done) / in_seconds(length) : 0;
}

std::vector<stair> stairs_of(
    std::vector<interval> const& timeline, std::vector<interval> const& by_start,
    std::vector<phase> const& phases, std::chrono::nanoseconds interval_length)
{
    std::vector<stair> found;
    std::chrono::nanoseconds begin{};
    std::optional<std::chrono::nanoseconds> fastest;
    std::uint64_t pending = 0;
    for (phase const& each : phases) {
        std::chrono::nanoseconds const end = begin + each.length;
        stair one{(each.rate_begin + each.rate_end) / 2, each.length, {}, 0, {}};
        one.rate_before = found.empty() ? 0 : found.back().rate;
        one.pending_before = pending;
        auto const first = static_cast<std::size_t>(begin / interval_length);
        auto const end_index = static_cast<std::size_t>(end / interval_length);
        for (std::size_t i = first; i < std::min(by_start.size(), end_index); ++i) {
            add(one.counts, by_start[i]);
            if (by_start[i].ok != 0) {
                std::chrono::nanoseconds const mean{by_start[i].response_ns / by_start[i].ok};
                fastest = std::min(fastest.value_or(mean), mean);
            }
        }
        one.fastest = fastest.value_or(0ns);
        for (std::size_t i = first; i < std::min(timeline.size(), end_index); ++i) {
            one.done += timeline[i].ok;
            pending += timeline[i].attempted;
            pending -= std::min(pending, timeline[i].ok + timeline[i].failed);
        }
        one.pending_after = pending;
        begin = end;
        if (one.counts.attempted == 0)
            break; // The run was ended before it.
        found.push_back(one);
        if (broken(one) && one.settled())
            break; // The steps after it only ran until it was known to be broken.
    }
    return found;
}

bool broken(stair const& step) noexcept
{
    // A slow server that keeps up has not answered the last transactions of a step when it ends.
    double const early_enough =
        std::max(0.0, 1 - in_seconds(step.fastest) / in_seconds(step.length));
    double const due = static_cast<double>(step.counts.attempted) * early_enough;
    return step.failed_share() > step_failed_max || step.response_ns() > step_response_max_ns ||
           static_cast<double>(step.done) < 0.7 * due;
}

bool kept_up(stair const& step) noexcept
{
    double const under_way = std::max(0.0, step.rate - step.rate_before) * in_seconds(step.fastest);
    return !queue_grew(
        static_cast<double>(step.pending_before) + under_way, step.pending_after,
        step.counts.attempted);
}

std::string fault_of(stair const& step)
{
    if (!step.settled())
        return {};
    if (step.failed_share() > step_failed_max)
        return fmt::format("broken: {:.3g} % failed", step.failed_share() * 100);
    if (broken(step) && step.response_ns() <= step_response_max_ns)
        return fmt::format(
            "broken: {:.0f}/s were done while it lasted, {} of {} ended later", step.done_rate(),
            step.counts.attempted - std::min(step.done, step.counts.attempted),
            step.counts.attempted);
    if (broken(step))
        return fmt::format(
            "broken: the mean response was {}, and {:.0f}/s were done while it lasted",
            in_words(step.response_ns()), step.done_rate());
    if (!kept_up(step))
        return fmt::format(
            "did not keep up: {:.0f}/s were done, and {} more were waiting at its end than at its "
            "begin",
            step.done_rate(), step.pending_after - step.pending_before);
    return {};
}

bool lost(stair const& step, std::chrono::nanoseconds since_end) noexcept
{
    if (step.settled())
        return broken(step);
    // No answer has come: responses take at least as long as the time since the step's end.
    if (step.fastest == 0ns)
        return step.failed_share() > step_failed_max || since_end > 1s;
    // Responses that are still to come may lower the mean, so it does not count here; the
    // transactions that ended in the step will not become more.
    stair one = step;
    one.counts.response_ns = 0;
    return broken(one);
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
    // Only the shortest: in a staircase of few steps the others may have queues already.
    double const limit = 3 * *std::ranges::min_element(calm);
    return highest(
               "", stairs,
               [limit](stair const& s) {
                   return s.response_ns() <= limit &&
                          static_cast<double>(s.counts.ok) >=
                              0.99 * static_cast<double>(s.counts.attempted);
               })
        .rate;
}

int staircase(staircase_request const& request)
{
    load_request const& base = request.load;
    check_writable(files_of(base));
    load_spec const& spec = base.spec;
    open const& loop = std::get<open>(spec.loop);
    std::optional<cpu_quota> quota;
    if (request.server_cpu)
        quota.emplace(*request.server_cpu).adopt(base.server_pids);
    result whole = begin_result(base);
    std::optional<live_view> view;
    if (!base.output.quiet)
        view.emplace(spec, base.server_pids);

    run_control control;
    control.start_at = base.start_at;
    control.period = std::chrono::milliseconds{500};
    std::size_t looks = 0;
    control.watch = [&](progress const& now) {
        if (view && (live_view::has_terminal() || looks++ % 10 == 0))
            view->show(now);
        return any_lost(now, loop.phases, spec.interval) ? proceed::finish : proceed::go_on;
    };
    run_into(whole, base, control);
    view.reset();
    whole.climbs = true;
    // The rate of the steps that ran: the run ends before the others.
    whole.rate_asked = static_cast<double>(whole.counts.attempts) / in_seconds(whole.measured);

    std::vector<stair> const stairs =
        stairs_of(whole.counts.timeline, whole.counts.by_start, loop.phases, spec.interval);
    fmt::print("{}{}", to_text(whole), text_of(stairs, whole));
    std::fflush(stdout);
    write_documents(staircase_document(stairs, whole), base.output);
    return whole.partial ? 130 : whole.counts.ok == 0 ? 1 : 0;
}

} // namespace cleat::bench
