#include "result/result.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cleat::bench {
namespace {

double share_of(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void add_latency(std::string& to, std::string_view name, latency const& of)
{
    if (of.count() == 0)
        return;
    auto const t = [](std::uint64_t ns) { return in_words(static_cast<double>(ns)); };
    fmt::format_to(
        std::back_inserter(to), "  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", name,
        t(of.min()), in_words(of.mean()), t(of.percentile(50)), t(of.percentile(90)),
        t(of.percentile(99)), t(of.percentile(99.9)), t(of.max()));
}

// What it was asked for; a merged result has a line for each generator.
void add_asked(std::string& to, result const& of)
{
    auto const out = std::back_inserter(to);
    fmt::format_to(out, "{}", of.target);
    std::string_view between = ", ";
    for (auto const& [name, value] : of.asked) {
        if (value.empty())
            fmt::format_to(out, "\n{}: ", name);
        else
            fmt::format_to(out, "{}{} {}", between, name, value);
        between = value.empty() ? "" : ", ";
    }
    fmt::format_to(out, "\n\n");
}

// What it cost; for each transaction only where there is one.
std::string cost(std::chrono::nanoseconds cpu, std::uint64_t transactions)
{
    if (transactions == 0)
        return in_words(static_cast<double>(cpu.count())) + " of CPU, and no transaction was ok";
    return in_words(static_cast<double>(cpu.count()) / static_cast<double>(transactions)) +
           " per transaction";
}

void add_costs(std::string& to, result const& of)
{
    auto const out = std::back_inserter(to);
    tally const& counts = of.counts;
    fmt::format_to(
        out, "\n  generator             {}; busiest of {} workers {:.0f} % busy\n",
        cost(counts.cpu, counts.ok), of.worker_cpu.size(), of.busiest() * 100);
    if (!of.worker_waited.empty())
        fmt::format_to(
            out, "                        a worker waited for a core {:.0f} % of the time\n",
            of.waited() * 100);
    if (of.server)
        fmt::format_to(
            out, "  server                {}; {:.2f} cores busy\n", cost(of.server->cpu, counts.ok),
            of.server->cores);
}

} // namespace

std::string to_text(result const& of)
{
    std::string text;
    auto const out = std::back_inserter(text);
    tally const& counts = of.counts;
    double const time = in_seconds(of.measured);

    if (of.partial)
        fmt::format_to(out, "PARTIAL: this run was ended before its time\n");
    add_asked(text, of);
    if (counts.attempts == 0)
        fmt::format_to(
            out, "  Nothing was measured: no transaction was begun{}.\n",
            of.measured.count() == 0 ? " after the warm-up" : "");

    if (of.rate_asked)
        fmt::format_to(out, "  rate asked            {:.1f}/s\n", *of.rate_asked);
    fmt::format_to(
        out, "  rate achieved         {:.1f}/s  ({} ok in {:.2f} s)\n", of.rate(), counts.ok, time);
    if (of.rate_asked && counts.drained != 0)
        fmt::format_to(
            out, "  drain                 {}, in which {} of {} ended\n",
            in_words(static_cast<double>(of.drain.count())), counts.drained, counts.attempts);
    fmt::format_to(
        out,
        "  attempts              {}\n"
        "  failed                {} ({:.3g} %)\n",
        counts.attempts, counts.failed(), share_of(counts.failed(), counts.attempts));
    for (auto const& [what, count] : counts.failures)
        fmt::format_to(
            out, "    {:10} {:24} {} ({:.3g} %)\n", name_of(what.where), what.kind, count,
            share_of(count, counts.attempts));
    fmt::format_to(
        out, "  handshakes            {} full, {} resumed ({:.2f} %; {} offered)\n", counts.full,
        counts.resumed, share_of(counts.resumed, counts.full + counts.resumed), counts.offered);
    for (agreement const& each : counts.agreed)
        fmt::format_to(
            out, "    {} {} {}: {}\n", each.version, each.cipher, each.group, each.count);
    if (counts.early)
        fmt::format_to(
            out, "  early data            {} offered, {} accepted ({:.2f} %), {} rejected\n",
            counts.early->offered, counts.early->accepted,
            share_of(counts.early->accepted, counts.early->offered), counts.early->rejected);
    fmt::format_to(
        out, "  bytes                 {} up, {} down ({}/s)\n",
        bytes_in_words(static_cast<double>(counts.bytes_up)),
        bytes_in_words(static_cast<double>(counts.bytes_down)),
        bytes_in_words(
            time > 0 ? static_cast<double>(counts.bytes_up + counts.bytes_down) / time : 0));

    fmt::format_to(
        out, "\n  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "min", "mean", "p50",
        "p90", "p99", "p99.9", "max");
    add_latency(text, "TCP connect", counts.tcp);
    add_latency(text, "TLS handshake, full", counts.tls);
    add_latency(text, "TLS handshake, resumed", counts.tls_resumed);
    add_latency(text, "first byte", counts.first_byte);
    add_latency(text, "response", counts.response);
    if (of.rate_asked)
        add_latency(text, "slip", counts.slip);
    add_latency(text, "event-loop lag", counts.lag);
    fmt::format_to(
        out, "  Response counts from {} to the answer's last byte.\n",
        of.rate_asked ? "the intended start" : "the start");

    add_costs(text, of);
    for (std::string const& each : remarks_on(of))
        fmt::format_to(out, "\nNOTE: {}.\n", each);
    for (std::size_t i = 0; i != of.verdict.limits.size(); ++i)
        fmt::format_to(
            out, "\nCLIENT-LIMITED: {}.\n  These figures are not the server's: {}.\n",
            of.verdict.limits[i], of.verdict.cures[i]);
    return text;
}

} // namespace cleat::bench
