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

std::string cell(std::optional<double> value, metric what, scenario const& in)
{
    if (!value)
        return "-";
    if (what == metric::memory)
        return bytes_in_words(*value);
    if (what != metric::rate)
        return in_words(*value);
    return moves_bytes(in) ? bytes_in_words(*value) + "/s" : fmt::format("{:.0f}/s", *value);
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
        break;
    }
    return "p99";
}

std::string ratio_cell(trial const& of, contender const& server)
{
    contender const* const base = of.find(of.base);
    if (base == nullptr || !server.measured())
        return {};
    if (base == &server)
        return "base";
    metric const by = judged_by(of.what);
    auto const found = ratio_of(server.column(by), base->column(by));
    return found ? in_words(*found) : "no round has both";
}

struct counted
{
    std::uint64_t attempts = 0;
    std::uint64_t full = 0;
    std::uint64_t resumed = 0;
    failures failed;
    failures failed_beside;
    std::vector<std::string> limits; // Of the client, in any round.
};

void add_limits(std::vector<std::string>& to, verdict const& more, std::string const& whose)
{
    for (std::string const& limit : more.limits)
        if (std::ranges::find(to, whose + limit) == to.end())
            to.push_back(whose + limit);
}

counted count(contender const& server)
{
    counted sum;
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

std::uint64_t all(failures const& of)
{
    std::uint64_t sum = 0;
    for (auto const& [what, times] : of)
        sum += times;
    return sum;
}

double share_resumed(counted const& of)
{
    return 100.0 * static_cast<double>(of.resumed) /
           static_cast<double>(std::max<std::uint64_t>(of.full + of.resumed, 1));
}

void add_line(std::string& to, trial const& of, contender const& server)
{
    auto const out = std::back_inserter(to);
    auto const put = [&](metric what) { return cell(server.typical(what), what, of.what); };
    fmt::format_to(out, "  {:<14}", server.name);
    if (of.what.kind != activity::idle) {
        fmt::format_to(
            out, "{:>12}{:>10}{:>10}{:>12}", put(metric::rate), put(metric::p50), put(metric::p99),
            put(metric::cpu));
    }
    fmt::format_to(out, "{:>12}", put(metric::memory));
    if (of.what.kind != activity::idle)
        fmt::format_to(out, "{:>9}", all(count(server).failed));
    if (of.what.reuse > 1)
        fmt::format_to(out, "{:>8.1f} %", share_resumed(count(server)));
    fmt::format_to(out, "   {}\n", ratio_cell(of, server));
}

void add_head(std::string& to, trial const& of)
{
    auto const out = std::back_inserter(to);
    fmt::format_to(out, "  {:<14}", "server");
    if (of.what.kind != activity::idle)
        fmt::format_to(
            out, "{:>12}{:>10}{:>10}{:>12}", moves_bytes(of.what) ? "moved" : "done", "p50", "p99",
            moves_bytes(of.what) ? "CPU per GB" : "CPU each");
    fmt::format_to(out, "{:>12}", of.what.kind == activity::idle ? "each takes" : "memory");
    if (of.what.kind != activity::idle)
        fmt::format_to(out, "{:>9}", "failed");
    if (of.what.reuse > 1)
        fmt::format_to(out, "{:>10}", "resumed");
    fmt::format_to(out, "   {} over that of {}\n", short_name(judged_by(of.what)), of.base);
}

// A text of several lines under a bullet.
std::string indented(std::string const& text)
{
    std::string found;
    for (char const c : text)
        found += c == '\n' ? std::string{"\n      "} : std::string(1, c);
    return found;
}

void add_remarks(std::string& to, trial const& of)
{
    auto const out = std::back_inserter(to);
    double const asked = of.what.reuse > 1 ? 100.0 - 100.0 / of.what.reuse : 0;
    for (contender const& server : of.servers) {
        if (!server.left_out.empty())
            fmt::format_to(out, "  - {}: {}\n", server.name, indented(server.left_out));
        for (std::string const& complaint : server.complaints)
            fmt::format_to(out, "  - {}: {}\n", server.name, indented(complaint));
        counted const sum = count(server);
        for (auto const& [what, times] : sum.failed)
            fmt::format_to(
                out, "  - {}: {} of {} failed: {}: {}\n", server.name, times, sum.attempts,
                name_of(what.stage), what.kind);
        for (auto const& [what, times] : sum.failed_beside)
            fmt::format_to(
                out, "  - {}: {} of what its clients did beside that failed: {}: {}\n", server.name,
                times, name_of(what.stage), what.kind);
        // A few more full handshakes than asked begin and end the chains.
        if (sum.full + sum.resumed != 0 && asked > 0 && share_resumed(sum) < asked - 5)
            fmt::format_to(
                out,
                "  - {}: {:.1f} % of its connections resumed, {:.1f} % were to: it does other "
                "work than those that do\n",
                server.name, share_resumed(sum), asked);
        for (std::string const& limit : sum.limits)
            fmt::format_to(
                out, "  - {}: client-limited, so what it did in a second says little: {}\n",
                server.name, limit);
    }
}

void add_settings(std::string& to, comparison const& of)
{
    auto const out = std::back_inserter(to);
    std::map<std::string, bool> shown;
    for (trial const& each : of.trials)
        for (contender const& server : each.servers) {
            if (server.command.empty() || shown[server.name])
                continue;
            shown[server.name] = true;
            fmt::format_to(out, "{}: {}\n", server.name, server.command);
            std::string const config = "    " + indented(without_comments(server.config));
            if (!server.config.empty())
                fmt::format_to(
                    out, "      {}\n", config.substr(4, config.find_last_not_of(" \n") + 1 - 4));
        }
}

} // namespace

std::string table_of(trial const& of, unsigned rounds)
{
    std::string text;
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out, "{}: {} ({} round{})\n", of.what.name, of.what.title, rounds, rounds == 1 ? "" : "s");
    if (!of.skipped.empty())
        fmt::format_to(out, "  - skipped: {}\n", of.skipped);
    if (of.asked)
        fmt::format_to(
            out, "  open loop: {}{:.0f}/s{}\n",
            of.what.arrivals == arrivals::poisson ? "Poisson arrivals, " : "evenly spaced, ",
            of.asked->rate,
            of.asked->weakest.empty()
                ? ""
                : fmt::format(
                      ", {:.0f} % of what the weakest server can do ({}: {:.0f}/s)",
                      of.what.rate->value * 100, of.asked->weakest, of.asked->capacity));
    if (of.what.kind == activity::established)
        fmt::format_to(
            out, "  {} kept connections, each with a request in {} ms: p50 and p99 are theirs{}\n",
            of.what.connections, of.what.every.count(),
            of.what.beside == company::none
                ? std::string{}
                : fmt::format(
                      "; done and CPU are of {} other connections", of.what.beside_connections));
    if (of.what.server_cpu)
        fmt::format_to(
            out, "  each server may use {:.0f} % of a core\n", *of.what.server_cpu * 100);
    if (!of.base.empty()) {
        add_head(text, of);
        for (contender const& server : of.servers)
            if (server.measured())
                add_line(text, of, server);
    }
    add_remarks(text, of);
    return text;
}

std::string to_text(comparison const& of)
{
    std::string text;
    auto const out = std::back_inserter(text);
    if (of.partial)
        fmt::format_to(out, "PARTIAL: this comparison was ended before its time\n");
    fmt::format_to(out, "Settings, as first used; --json has those of every scenario:\n\n");
    add_settings(text, of);
    fmt::format_to(
        out,
        "\n{} worker{} on core{} {}; client and origin on core{} {}. Medians of {} round{}; ratios "
        "are\ntaken within a round: median (least..most).\n",
        of.workers, of.workers == 1 ? "" : "s", of.server_cores.size() == 1 ? "" : "s",
        fmt::join(of.server_cores, ","), of.client_cores.size() == 1 ? "" : "s",
        fmt::join(of.client_cores, ","), of.rounds, of.rounds == 1 ? "" : "s");
    bool const shared = std::ranges::any_of(of.server_cores, [&](int core) {
        return std::ranges::find(of.client_cores, core) != of.client_cores.end();
    });
    if (shared)
        fmt::format_to(
            out, "Servers and client share a core: they disturb each other, and figures suffer.\n");
    for (auto const& [name, why] : of.absent)
        fmt::format_to(out, "{} is left out: {}\n", name, why);
    for (trial const& each : of.trials)
        fmt::format_to(out, "\n{}", table_of(each, of.rounds));
    return text;
}

} // namespace cleat::bench
