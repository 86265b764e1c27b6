#include "export/figure_list.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

struct listed_figure
{
    std::string name; ///< With its unit, in the base units of Prometheus.
    std::string help;
    std::optional<double> value;
};

std::optional<double> response_seconds(tally const& counts, double level)
{
    auto const ns = counts.response_percentile(level);
    return ns ? std::optional{static_cast<double>(*ns) / 1e9} : std::nullopt;
}

std::optional<double> each_seconds(std::chrono::nanoseconds all, std::uint64_t transactions)
{
    return transactions == 0 ? std::nullopt
                             : std::optional{in_seconds(all) / static_cast<double>(transactions)};
}

// They have their columns in every table: one has results of several kinds.
std::vector<listed_figure> websocket_figures_of(result const& found)
{
    std::optional<websocket_counts> const& counts = found.counts.websocket;
    auto const number = [&](std::uint64_t value) {
        return counts ? std::optional{static_cast<double>(value)} : std::nullopt;
    };
    websocket_counts const known = counts.value_or(websocket_counts{});
    std::vector<listed_figure> figures{
        {"openings", "Connections that were begun to open a WebSocket.", number(known.openings)},
        {"openings_failed", "Openings of WebSockets that failed.",
         number(known.openings - known.opened())},
        {"opening_rate", "WebSockets that were opened in the measured time, per second.",
         counts ? std::optional{found.opening_rate()} : std::nullopt},
    };
    for (percentile_level const& each : percentile_levels) {
        auto const ns = known.opening_percentile(each.level);
        figures.push_back(
            {fmt::format("opening_{}_seconds", each.name),
             fmt::format("Time that {:g} % of all openings of WebSockets reach.", each.level),
             ns ? std::optional{static_cast<double>(*ns) / 1e9} : std::nullopt});
    }
    figures.push_back(
        {"messages", "WebSocket messages that came, echoes too.", number(known.messages)});
    figures.push_back({"pings", "Pings of the server.", number(known.pings)});
    return figures;
}

std::vector<listed_figure> http2_figures_of(std::optional<http2_counts> const& counts)
{
    auto const number = [&](std::uint64_t http2_counts::*figure) {
        return counts ? std::optional{static_cast<double>((*counts).*figure)} : std::nullopt;
    };
    return {
        {"http2_streams", "Streams of HTTP/2 that each connection was to have open.",
         counts ? std::optional<double>{counts->streams} : std::nullopt},
        {"http2_streams_open_max", "Streams that a connection had open at most.",
         counts ? std::optional<double>{counts->open_max} : std::nullopt},
        {"http2_streams_allowed_min", "The fewest streams that a server allowed a connection.",
         counts && counts->allowed_min ? std::optional<double>{*counts->allowed_min}
                                       : std::nullopt},
        {"http2_limited", "Connections whose server allowed fewer streams than asked for.",
         number(&http2_counts::limited)},
        {"http2_goaways", "Connections that the server ended by GOAWAY.",
         number(&http2_counts::goaways)},
        {"http2_resent", "Requests that were sent again after a graceful GOAWAY.",
         number(&http2_counts::resent)},
    };
}

std::vector<listed_figure> listed_figures_of(result const& found)
{
    tally const& counts = found.counts;
    auto const number = [](std::uint64_t value) { return static_cast<double>(value); };
    std::vector<listed_figure> figures{
        {"measured_seconds", "Time in which transactions were meant to begin.",
         in_seconds(found.measured)},
        {"drain_seconds", "Time from there to the last end.", in_seconds(found.drain)},
        {"rate_asked", "Transactions that were asked for, per second.", found.rate_asked},
        {"rate", "Transactions that were done and ok in the measured time, per second.",
         found.rate()},
        {"kept_up", "1 where no queue grew in the second half of the load.",
         found.kept_up() ? 1.0 : 0.0},
        {"client_limited", "1 where the generator's machine was the limit.",
         found.verdict.client_limited() ? 1.0 : 0.0},
        {"attempts", "Transactions.", number(counts.attempts)},
        {"ok", "Transactions that were ok.", number(counts.ok)},
        {"failed", "Transactions that failed.", number(counts.failed())},
        {"handshakes_full", "Full handshakes.", number(counts.full)},
        {"handshakes_resumed", "Resumed handshakes.", number(counts.resumed)},
    };
    bool const several = !found.hosts.empty();
    auto const of_hosts = [&](double value) {
        return several ? std::optional{value} : std::nullopt;
    };
    figures.insert(
        figures.end(),
        {
            {"hosts", "Hosts that made the load.", of_hosts(number(found.hosts.size()))},
            {"hosts_lost", "Of these, the ones that the figures are without.",
             of_hosts(number(found.hosts_lost()))},
            {"hosts_apart_seconds", "Time within which they all began.",
             of_hosts(in_seconds(found.hosts_apart()))},
        });
    for (percentile_level const& each : percentile_levels)
        figures.push_back(
            {fmt::format("response_{}_seconds", each.name),
             fmt::format("Response that {:g} % of all attempts reach.", each.level),
             response_seconds(counts, each.level)});
    figures.insert(
        figures.end(),
        {
            {"generator_cpu_seconds", "CPU of the generator for a transaction.",
             each_seconds(counts.cpu, counts.ok)},
            {"server_cpu_seconds", "CPU of the server for a transaction.",
             found.server ? each_seconds(found.server->cpu, counts.ok) : std::nullopt},
            {"server_cores", "Cores that the server kept busy in the measured time.",
             found.server ? std::optional{found.server->cores} : std::nullopt},
        });
    for (listed_figure& each : websocket_figures_of(found))
        figures.push_back(std::move(each));
    for (listed_figure& each : http2_figures_of(counts.http2))
        figures.push_back(std::move(each));
    return figures;
}

// A field with a comma, a quote or a line break is quoted (RFC 4180).
std::string csv_field(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string{text};
    std::string found{'"'};
    for (char const c : text)
        found += c == '"' ? std::string{"\"\""} : std::string(1, c);
    return found + '"';
}

std::string label(std::string_view text)
{
    std::string found;
    for (char const c : text)
        found += c == '\\'   ? std::string{"\\\\"}
                 : c == '"'  ? std::string{"\\\""}
                 : c == '\n' ? std::string{"\\n"}
                             : std::string(1, c);
    return found;
}

} // namespace

std::string to_csv(result const& found)
{
    std::string names{"name,target,started"};
    std::string values = fmt::format(
        "{},{},{}", csv_field(found.name), csv_field(found.target), in_utc(found.started));
    for (listed_figure const& each : listed_figures_of(found)) {
        names += fmt::format(",{}", each.name);
        values += each.value ? fmt::format(",{}", *each.value) : std::string{','};
    }
    return names + "\n" + values + "\n";
}

std::string to_prometheus(result const& found)
{
    std::string text;
    for (listed_figure const& each : listed_figures_of(found))
        if (each.value)
            fmt::format_to(
                std::back_inserter(text),
                "# HELP cleat_bench_{0} {1}\n# TYPE cleat_bench_{0} gauge\n"
                "cleat_bench_{0}{{name=\"{2}\",target=\"{3}\"}} {4}\n",
                each.name, each.help, label(found.name), label(found.target), *each.value);
    return text;
}

} // namespace cleat::bench
