#include "result.hpp"
#include "times.hpp"

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

} // namespace

std::string to_text(result const& of)
{
    std::string text;
    auto const out = std::back_inserter(text);
    tally const& counts = of.counts;
    double const time = in_seconds(of.measured);

    if (of.partial)
        fmt::format_to(out, "PARTIAL: this run was ended before its time\n");
    fmt::format_to(out, "{}", of.target);
    for (auto const& [name, value] : of.asked)
        fmt::format_to(out, ", {} {}", name, value);
    fmt::format_to(out, "\n\n");

    if (of.rate_asked)
        fmt::format_to(out, "  rate asked            {:.1f}/s\n", *of.rate_asked);
    fmt::format_to(
        out,
        "  rate achieved         {:.1f}/s  ({} ok in {:.2f} s)\n"
        "  attempts              {}\n"
        "  failed                {} ({:.3g} %)\n",
        of.rate(), counts.ok, time, counts.attempts, counts.failed(),
        share_of(counts.failed(), counts.attempts));
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
        bytes_in_words(static_cast<double>(counts.bytes_up + counts.bytes_down) / time));

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
    fmt::format_to(
        out, "  Response counts from {} to the answer's last byte.\n",
        of.rate_asked ? "the intended start" : "the start");

    double const done = static_cast<double>(std::max<std::uint64_t>(counts.ok, 1));
    fmt::format_to(
        out, "\n  generator             {} per transaction; busiest of {} workers {:.0f} % busy\n",
        in_words(static_cast<double>(counts.cpu.count()) / done), of.worker_cpu.size(),
        of.busiest() * 100);
    if (of.server)
        fmt::format_to(
            out, "  server                {} per transaction; {:.2f} cores busy\n",
            in_words(static_cast<double>(of.server->cpu.count()) / done),
            in_seconds(of.server->cpu) / time);
    for (std::string const& each : remarks_on(of))
        fmt::format_to(out, "\nNOTE: {}.\n", each);
    for (std::size_t i = 0; i != of.verdict.limits.size(); ++i)
        fmt::format_to(
            out, "\nCLIENT-LIMITED: {}.\n  These figures are not the server's: {}.\n",
            of.verdict.limits[i], of.verdict.cures[i]);
    return text;
}

} // namespace cleat::bench
