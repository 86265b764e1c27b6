// The page's script (page/) draws a block of JSON. The data are reduced here: percentiles to a
// grid, a long timeline to longer intervals.

#include "page/page.hpp"
#include "page_charts.hpp"
#include "report/comparison.hpp"
#include "report/curves.hpp"
#include "report/kinds.hpp"
#include "report/report.hpp"
#include "report_page.hpp"
#include "result/result_json.hpp"
#include "text/json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

// A screen shows no more, and a page of several results stays small.
constexpr std::size_t timeline_points_max = 300;

json::object curve_json(
    std::string_view key, std::string_view name, latency const& times,
    std::vector<double> const& grid)
{
    return {
        {"key", key},
        {"name", name},
        {"count", times.count()},
        {"min", times.min()},
        {"mean", times.mean()},
        {"p50", times.percentile(50)},
        {"p90", times.percentile(90)},
        {"p99", times.percentile(99)},
        {"p99_9", times.percentile(99.9)},
        {"p99_99", times.percentile(99.99)},
        {"max", times.max()},
        {"beyond_max", times.beyond_max()},
        {"curve", curve_of(times, grid)},
    };
}

constexpr std::array<std::pair<char const*, double>, 6> response_levels{
    {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99_9", 99.9}, {"p99_99", 99.99}, {"max", 100}}};

// The response's percentiles are of all attempts: null where a failure has the rank.
json::object response_curve_json(tally const& counts, std::vector<double> const& grid)
{
    json::object found = curve_json("response", "response", counts.response, grid);
    for (auto const& [name, level] : response_levels) {
        auto const value = counts.response_percentile(level);
        found[name] = value ? json::value(*value) : json::value(nullptr);
    }
    found["slowest_ok"] = counts.response.max();
    found["curve"] = curve_of(counts.response, grid, counts.attempts);
    return found;
}

// The same of the openings of WebSockets.
json::object opening_curve_json(websocket_counts const& counts, std::vector<double> const& grid)
{
    json::object found = curve_json("opening", "WebSocket opening", counts.opening, grid);
    for (auto const& [name, level] : response_levels) {
        auto const value = counts.opening_percentile(level);
        found[name] = value ? json::value(*value) : json::value(nullptr);
    }
    found["curve"] = curve_of(counts.opening, grid, counts.openings);
    return found;
}

json::array latencies_of(result const& result, std::vector<double> const& grid)
{
    tally const& counts = result.counts;
    json::array found{
        curve_json("tcp", "TCP connect", counts.tcp, grid),
        curve_json("tls", "TLS handshake, full", counts.tls, grid),
        curve_json("tls_resumed", "TLS handshake, resumed", counts.tls_resumed, grid),
        curve_json("first_byte", "first byte", counts.first_byte, grid),
        response_curve_json(counts, grid),
    };
    if (counts.websocket)
        found.insert(found.end() - 2, opening_curve_json(*counts.websocket, grid));
    if (result.rate_asked)
        found.push_back(curve_json("slip", "slip", counts.slip, grid));
    return found;
}

// timeline_of makes points of intervals, each with the time that it covers. A run rarely ends at
// the end of an interval. A last interval of less than half its length joins the point before:
// alone it would look like a collapse of the rate.
json::object timeline_of(result const& result)
{
    std::vector<interval> const& intervals = result.counts.timeline;
    double const step = in_seconds(result.counts.interval_length);
    double const end = in_seconds(result.measured + result.drain);
    std::size_t const count =
        intervals.empty()
            ? 0
            : std::max(intervals.size(), static_cast<std::size_t>(std::ceil(end / step - 1e-9)));
    std::size_t const together =
        std::max<std::size_t>(1, (count + timeline_points_max - 1) / timeline_points_max);
    double const last = std::clamp(end - (static_cast<double>(count) - 1) * step, 0.0, step);
    bool const short_tail = count > 1 && last < step / 2;

    json::array middle, length, attempted, ok, failed, mean, longest;
    for (std::size_t first = 0, past = 0; first < count; first = past) {
        past = std::min(first + together, count);
        if (short_tail && past + 1 == count)
            past = count;
        interval sum;
        for (std::size_t i = first; i < std::min(past, intervals.size()); ++i) {
            sum.attempted += intervals[i].attempted;
            sum.ok += intervals[i].ok;
            sum.failed += intervals[i].failed;
            sum.response_ns += intervals[i].response_ns;
            sum.response_ns_max = std::max(sum.response_ns_max, intervals[i].response_ns_max);
        }
        double const whole = static_cast<double>(past - first) * step;
        double const covered = past == count ? whole - step + last : whole;
        double const time = covered > 0 ? covered : whole;
        middle.push_back(static_cast<double>(first) * step + time / 2);
        length.push_back(time);
        attempted.push_back(sum.attempted);
        ok.push_back(sum.ok);
        failed.push_back(sum.failed);
        bool const any = sum.ok != 0;
        mean.push_back(
            any ? json::value(static_cast<double>(sum.response_ns) / static_cast<double>(sum.ok))
                : json::value(nullptr));
        longest.push_back(any ? json::value(sum.response_ns_max) : json::value(nullptr));
    }
    return {
        {"interval_s", step},
        {"together", together},
        {"middle_s", std::move(middle)},
        {"length_s", std::move(length)},
        {"attempted", std::move(attempted)},
        {"ok", std::move(ok)},
        {"failed", std::move(failed)},
        {"mean_ns", std::move(mean)},
        {"max_ns", std::move(longest)},
    };
}

void add_totals(json::object& data, tally const& counts)
{
    data["attempts"] = counts.attempts;
    data["ok"] = counts.ok;
    data["failed"] = counts.failed();
    data["drained"] = counts.drained;
    data["drained_ok"] = counts.drained_ok;
    data["failures"] = in_json(counts.failures);
    data["connections"] = counts.connections;
    data["full"] = counts.full;
    data["resumed"] = counts.resumed;
    data["offered"] = counts.offered;
    if (counts.early)
        data["early_data"] = fmt::format(
            "{} offered, {} accepted, {} rejected", counts.early->offered, counts.early->accepted,
            counts.early->rejected);
    data["agreed"] = in_json(counts.agreed);
    if (counts.websocket)
        data["websocket"] = json::object{
            {"use", name_of(counts.websocket->use)},
            {"openings", counts.websocket->openings},
            {"opened", counts.websocket->opened()},
            {"messages", counts.websocket->messages},
            {"pings", counts.websocket->pings}};
    if (counts.http2)
        data["http2"] = json::object{
            {"streams", counts.http2->streams},         {"open_max", counts.http2->open_max},
            {"connections", counts.http2->connections}, {"limited", counts.http2->limited},
            {"goaways", counts.http2->goaways},         {"resent", counts.http2->resent}};
    data["bytes_up"] = counts.bytes_up;
    data["bytes_down"] = counts.bytes_down;
    data["generator_cpu_ns"] = counts.cpu.count();
}

json::object drawn_json(result const& result, std::vector<double> const& grid)
{
    json::array remarks;
    for (std::string const& each : remarks_on(result))
        if (each != overload_of(result))
            remarks.emplace_back(each);
    json::object found{
        {"name", result.name},
        {"command", result.command},
        {"target", result.target},
        {"asked", in_json(result.asked)},
        {"environment", in_json(result.environment)},
        {"hosts", in_json(result.hosts)},
        {"hosts_apart_ns", result.hosts_apart().count()},
        {"started", in_utc(result.started)},
        {"measured_s", in_seconds(result.measured)},
        {"drain_s", in_seconds(result.drain)},
        {"partial", result.partial},
        {"kept_up", result.kept_up()},
        {"overload", overload_of(result)},
        {"remarks", std::move(remarks)},
        {"rate", result.rate()},
        {"drain_rate", result.drain_rate()},
        {"rate_asked", result.rate_asked ? json::value(*result.rate_asked) : json::value(nullptr)},
        {"limits", in_json(result.verdict.limits)},
        {"cures", in_json(result.verdict.cures)},
        {"latency", latencies_of(result, grid)},
        {"timeline", timeline_of(result)},
    };
    add_totals(found, result.counts);
    found["opening_rate"] = result.opening_rate();
    json::array workers;
    for (std::chrono::nanoseconds const each : result.worker_cpu)
        workers.push_back(each.count());
    found["worker_cpu_ns"] = std::move(workers);
    found["server"] = nullptr;
    if (result.server)
        found["server"] = json::object{
            {"pids", json::array(result.server->pids.begin(), result.server->pids.end())},
            {"cpu_ns", result.server->cpu.count()},
            {"cores", result.server->cores}};
    return found;
}

std::uint64_t most_latencies(std::vector<result> const& results)
{
    std::uint64_t most = 0;
    for (result const& each : results) {
        tally const& counts = each.counts;
        for (latency const* const one :
             {&counts.tcp, &counts.tls, &counts.tls_resumed, &counts.first_byte, &counts.response,
              &counts.slip})
            most = std::max(most, one->count());
        if (counts.websocket)
            most = std::max(most, counts.websocket->openings);
    }
    return most;
}

std::string title_of(drawable const& all)
{
    if (all.size() != 1)
        return fmt::format("{} results - cleat-bench", all.size());
    if (!all.comparisons.empty())
        return fmt::format(
            "{} compared - cleat-bench", fmt::join(servers_of(all.comparisons.front()), ", "));
    if (!all.idles.empty())
        return title_of_idle(all.idles.front()) + ", idle - cleat-bench";
    if (!all.probes.empty())
        return title_of_probe(all.probes.front()) + " probed - cleat-bench";
    result const& only = all.results.front();
    return (only.name.empty() ? only.target : only.name) + " - cleat-bench";
}

} // namespace

std::string to_html(std::vector<result> const& results)
{
    drawable all;
    all.results = results;
    return page_for(all);
}

std::string page_for(drawable const& all)
{
    std::uint64_t most = most_latencies(all.results);
    for (json::value const& each : all.comparisons)
        most = std::max(most, most_values(each));
    std::vector<double> const grid = grid_for(most);
    json::array drawn, compared, idles, probes;
    for (std::size_t i = 0; i != all.results.size(); ++i) {
        drawn.push_back(drawn_json(all.results[i], grid));
        if (i < all.extras.size())
            for (auto const& [name, value] : all.extras[i])
                drawn.back().as_object()[name] = value;
    }
    for (json::value const& each : all.comparisons)
        compared.push_back(page_of(each, grid));
    for (json::value const& each : all.idles)
        idles.push_back(idle_page_of(each));
    for (json::value const& each : all.probes)
        probes.push_back(probe_page_of(each));
    json::object const data{
        {"version", CLEAT_VERSION},    {"grid", json::array(grid.begin(), grid.end())},
        {"results", std::move(drawn)}, {"comparisons", std::move(compared)},
        {"idles", std::move(idles)},   {"probes", std::move(probes)},
    };
    return page::to_html(
        {title_of(all),
         json::serialize(data),
         report_page::style(),
         page::charts::chart_js(),
         {report_page::units(), report_page::results(), report_page::elements(),
          report_page::axes(), report_page::charts(), report_page::summary(),
          report_page::staircase(), report_page::single(), report_page::comparison(),
          report_page::judged(), report_page::spread(), report_page::workload(),
          report_page::trials(), report_page::matrix(), report_page::setting(), report_page::idle(),
          report_page::probe(), report_page::placement()}});
}

} // namespace cleat::bench
