// A table for each scenario, one line for each server: medians of the rounds, and the ratio by
// which servers are judged with its spread.

#include "compare/config_template.hpp"
#include "compare/figures.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace cleat::bench {
namespace {

std::string cell(std::optional<double> value, metric what, scenario_spec const& scenario)
{
    if (!value)
        return "-";
    if (what == metric::memory)
        return bytes_in_words(*value);
    if (what == metric::system_calls)
        return fmt::format("{:.1f}", *value);
    if (what == metric::workers_ratio)
        return fmt::format("{:.2f}", *value);
    if (what != metric::rate)
        return in_words(*value);
    return moves_bytes(scenario) ? bytes_in_words(*value) + "/s" : fmt::format("{:.0f}/s", *value);
}

std::string_view short_name(metric what) noexcept
{
    switch (what) {
    case metric::memory:
        return "memory";
    case metric::cpu:
        return "CPU";
    case metric::rate:
        return "rate";
    case metric::p50:
        return "p50";
    case metric::p99:
        return "p99";
    case metric::system_calls:
        return "count";
    case metric::workers_ratio:
        break;
    }
    return "ratio";
}

struct table_column
{
    metric what;
    std::string_view head;
    int width;
};

std::vector<table_column> columns_of(scenario_spec const& scenario)
{
    if (scenario.kind == activity::idle)
        return {{metric::memory, "each takes", 12}};
    if (scenario.kind == activity::system_calls)
        return {{metric::system_calls, "calls each", 12}};
    bool const moves = moves_bytes(scenario);
    std::vector<table_column> found{
        {metric::rate, moves ? "moved" : "done", 12},
        {metric::p50, "p50", 10},
        {metric::p99, "p99", 10},
        {metric::cpu, moves ? "CPU per GB" : "CPU each", 12},
        {metric::memory, "memory", 12}};
    if (scenario.kind == activity::workers)
        found.push_back({metric::workers_ratio, "2 over 1", 10});
    return found;
}

std::string ratio_cell(scenario_figures const& trial, server_figures const& server)
{
    server_figures const* const base = trial.find(trial.base);
    if (base == nullptr || !server.measured())
        return {};
    if (base == &server)
        return "base";
    metric const judged = judged_by(trial.scenario);
    if (server.overloaded() != 0)
        return "not compared: it did not keep up";
    if (base->overloaded() != 0)
        return fmt::format("not compared: {} did not keep up", base->name);
    auto const found = ratio_of(server.column(judged), base->column(judged));
    if (found)
        return in_words(*found);
    for (server_figures const* const each : {&server, base})
        if (!each->median(judged))
            return fmt::format(
                "not compared: the {} of {} is not known", short_name(judged), each->name);
    return "no round has both";
}

struct server_counts
{
    std::uint64_t attempts = 0;
    std::uint64_t full = 0;
    std::uint64_t resumed = 0;
    failures failed;
    failures failed_beside;
    std::vector<std::string> limits; // Of the client, in any of the rounds.
};

void add_limits(std::vector<std::string>& limits, verdict const& found, std::string const& prefix)
{
    for (std::string const& limit : found.limits)
        if (std::ranges::find(limits, prefix + limit) == limits.end())
            limits.push_back(prefix + limit);
}

server_counts count(server_figures const& server)
{
    server_counts sum;
    for (std::optional<round_figures> const& round : server.rounds) {
        if (!round)
            continue;
        tally const& one = round->load.counts;
        sum.attempts += one.attempts;
        sum.full += one.full;
        sum.resumed += one.resumed;
        for (auto const& [what, times] : one.failures)
            sum.failed[what] += times;
        add_limits(sum.limits, round->load.verdict, "");
        if (!round->beside)
            continue;
        add_limits(sum.limits, round->beside->verdict, "beside: ");
        for (auto const& [what, times] : round->beside->counts.failures)
            sum.failed_beside[what] += times;
    }
    return sum;
}

std::uint64_t total(failures const& failed)
{
    std::uint64_t sum = 0;
    for (auto const& [what, times] : failed)
        sum += times;
    return sum;
}

double share_resumed(server_counts const& counts)
{
    return 100.0 * static_cast<double>(counts.resumed) /
           static_cast<double>(std::max<std::uint64_t>(counts.full + counts.resumed, 1));
}

void add_line(std::string& text, scenario_figures const& trial, server_figures const& server)
{
    auto const out = std::back_inserter(text);
    fmt::format_to(out, "  {:<14}", server.name);
    for (table_column const& each : columns_of(trial.scenario))
        fmt::format_to(
            out, "{:>{}}", cell(server.median(each.what), each.what, trial.scenario), each.width);
    if (trial.scenario.kind != activity::idle)
        fmt::format_to(out, "{:>9}", total(count(server).failed));
    if (trial.scenario.reuse > 1)
        fmt::format_to(out, "{:>8.1f} %", share_resumed(count(server)));
    fmt::format_to(out, "   {}\n", ratio_cell(trial, server));
}

void add_head(std::string& text, scenario_figures const& trial)
{
    auto const out = std::back_inserter(text);
    fmt::format_to(out, "  {:<14}", "server");
    for (table_column const& each : columns_of(trial.scenario))
        fmt::format_to(out, "{:>{}}", each.head, each.width);
    if (trial.scenario.kind != activity::idle)
        fmt::format_to(out, "{:>9}", "failed");
    if (trial.scenario.reuse > 1)
        fmt::format_to(out, "{:>10}", "resumed");
    fmt::format_to(
        out, "   {} over that of {}\n", short_name(judged_by(trial.scenario)), trial.base);
}

// The system calls of one round by their names; those seen less often than once in a hundred
// operations are left out.
std::string calls_by_name(server_figures const& server)
{
    std::string text;
    for (std::optional<round_figures> const& round : server.rounds) {
        if (!round || round->calls.empty())
            continue;
        for (auto const& [name, count] : round->calls)
            if (count >= 0.01)
                text += fmt::format("{}{:.2f} {}", text.empty() ? "" : ", ", count, name);
        break;
    }
    return text;
}

// Indents the lines of a remark after the first.
std::string indented(std::string const& text)
{
    std::string found;
    for (char const c : text)
        found += c == '\n' ? std::string{"\n      "} : std::string(1, c);
    return found;
}

std::string first_overload(server_figures const& server)
{
    for (std::optional<round_figures> const& round : server.rounds)
        if (round && !round->load.kept_up())
            return overload_of(round->load);
    return {};
}

// The streams that a server allowed, where these were fewer than asked for.
std::optional<std::uint32_t> fewest_streams(server_figures const& server)
{
    std::optional<std::uint32_t> found;
    for (std::optional<round_figures> const& round : server.rounds) {
        if (!round || !round->load.counts.http2 || round->load.counts.http2->limited == 0)
            continue;
        std::optional<std::uint32_t> const allowed = round->load.counts.http2->allowed_min;
        found = found && allowed ? std::min(*found, *allowed) : allowed;
    }
    return found;
}

void add_remarks(std::string& text, scenario_figures const& trial)
{
    auto const out = std::back_inserter(text);
    double const expected = trial.scenario.reuse > 1 ? 100.0 - 100.0 / trial.scenario.reuse : 0;
    for (server_figures const& server : trial.servers) {
        if (!server.left_out.empty())
            fmt::format_to(out, "  - {}: {}\n", server.name, indented(server.left_out));
        for (std::string const& complaint : server.complaints)
            fmt::format_to(out, "  - {}: {}\n", server.name, indented(complaint));
        if (std::size_t const rounds = server.overloaded(); rounds != 0)
            fmt::format_to(
                out, "  - {}: did not keep up in {} of {} rounds: {}\n", server.name, rounds,
                server.rounds.size(), first_overload(server));
        if (std::string const calls = calls_by_name(server); !calls.empty())
            fmt::format_to(out, "  - {}: {}\n", server.name, calls);
        if (std::optional<std::uint32_t> const allowed = fewest_streams(server))
            fmt::format_to(
                out, "  - {}: it allowed {} of {} streams (SETTINGS_MAX_CONCURRENT_STREAMS)\n",
                server.name, *allowed, trial.scenario.streams);
        server_counts const sum = count(server);
        for (auto const& [what, times] : sum.failed)
            fmt::format_to(
                out, "  - {}: {} of {} failed: {}: {}\n", server.name, times, sum.attempts,
                name_of(what.stage), what.kind);
        for (auto const& [what, times] : sum.failed_beside)
            fmt::format_to(
                out, "  - {}: beside: {} failed: {}: {}\n", server.name, times, name_of(what.stage),
                what.kind);
        // The beginning and end of the chains add a few full handshakes.
        if (sum.full + sum.resumed != 0 && expected > 0 && share_resumed(sum) < expected - 5)
            fmt::format_to(
                out,
                "  - {}: {:.1f} % of its connections resumed, {:.1f} % should have: its cost "
                "includes more full handshakes\n",
                server.name, share_resumed(sum), expected);
        for (std::string const& limit : sum.limits)
            fmt::format_to(
                out, "  - {}: client-limited, so its rate says little about the server: {}\n",
                server.name, limit);
    }
}

void add_settings(std::string& text, comparison const& found)
{
    auto const out = std::back_inserter(text);
    std::map<std::string, bool> shown;
    for (scenario_figures const& trial : found.trials)
        for (server_figures const& server : trial.servers) {
            if ((server.command.empty() && server.target.empty()) || shown[server.name])
                continue;
            shown[server.name] = true;
            if (!server.target.empty()) {
                fmt::format_to(
                    out, "{}: it ran already, at {}, with settings of its own\n", server.name,
                    server.target);
                continue;
            }
            fmt::format_to(out, "{}: {}\n", server.name, server.command);
            std::string const config = "    " + indented(without_comments(server.config));
            if (!server.config.empty())
                fmt::format_to(
                    out, "      {}\n", config.substr(4, config.find_last_not_of(" \n") + 1 - 4));
        }
}

} // namespace

std::string table_of(scenario_figures const& trial, unsigned rounds)
{
    std::string text;
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out, "{}: {} ({} round{})\n", trial.scenario.name, trial.scenario.title, rounds,
        rounds == 1 ? "" : "s");
    if (!trial.skipped.empty())
        fmt::format_to(out, "  - skipped: {}\n", trial.skipped);
    if (trial.rate)
        fmt::format_to(
            out, "  open loop: {}{:.0f}/s{}\n",
            trial.scenario.arrivals == arrivals::poisson ? "Poisson arrivals, " : "evenly spaced, ",
            trial.rate->rate,
            trial.rate->weakest.empty()
                ? ""
                : fmt::format(
                      ", {:.0f} % of what the weakest server can do ({}: {:.0f}/s)",
                      trial.scenario.rate->value * 100, trial.rate->weakest, trial.rate->capacity));
    if (trial.scenario.kind == activity::established)
        fmt::format_to(
            out, "  {} kept connections, each with a request in {} ms: p50 and p99 are theirs{}\n",
            trial.scenario.connections, trial.scenario.every.count(),
            trial.scenario.beside == background_load::none
                ? std::string{}
                : fmt::format(
                      "; done and CPU are of {} other connections",
                      trial.scenario.beside_connections));
    if (trial.scenario.streams != 0)
        fmt::format_to(out, "  HTTP/2, {} streams on each connection\n", trial.scenario.streams);
    if (trial.scenario.server_cpu)
        fmt::format_to(
            out, "  each server may use {:.0f} % of a core\n", *trial.scenario.server_cpu * 100);
    if (trial.scenario.kind == activity::workers)
        fmt::format_to(
            out, "  each round: one worker, two, two, one; all figures but the ratio are of two\n");
    if (!trial.base.empty()) {
        add_head(text, trial);
        for (server_figures const& server : trial.servers)
            if (server.measured())
                add_line(text, trial, server);
    }
    add_remarks(text, trial);
    return text;
}

std::string to_text(comparison const& found)
{
    std::string text;
    auto const out = std::back_inserter(text);
    if (found.partial)
        fmt::format_to(out, "PARTIAL: this comparison was ended before its time\n");
    fmt::format_to(out, "Settings, as first used; --json has those of every scenario:\n\n");
    add_settings(text, found);
    fmt::format_to(
        out,
        "\n{} worker{} on core{} {}; client and origin on core{} {}. Medians of {} round{}; ratios "
        "are\ntaken within a round: median (least..most).\n",
        found.workers, found.workers == 1 ? "" : "s", found.server_cores.size() == 1 ? "" : "s",
        fmt::join(found.server_cores, ","), found.client_cores.size() == 1 ? "" : "s",
        fmt::join(found.client_cores, ","), found.rounds, found.rounds == 1 ? "" : "s");
    bool const shared = std::ranges::any_of(found.server_cores, [&](int core) {
        return std::ranges::find(found.client_cores, core) != found.client_cores.end();
    });
    if (shared)
        fmt::format_to(
            out, "Servers and client share a core: they disturb each other, and figures suffer.\n");
    for (std::string const& each : remarks_on(found))
        fmt::format_to(out, "{}.\n", each);
    for (auto const& [name, why] : found.absent)
        fmt::format_to(out, "{} is left out: {}\n", name, why);
    for (scenario_figures const& trial : found.trials)
        fmt::format_to(out, "\n{}", table_of(trial, found.rounds));
    return text;
}

} // namespace cleat::bench
