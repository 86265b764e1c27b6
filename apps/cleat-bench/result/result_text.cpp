#include "result/result.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cleat::bench {
namespace {

// A share in percent, rounded down: 99.99 of 9,999 in 10,000 and of 99,999 in 100,000.
double floor_share(std::uint64_t part, std::uint64_t whole)
{
    return std::floor(10'000.0 * static_cast<double>(part) / static_cast<double>(whole)) / 100;
}

double share_of(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// The response: percentiles of all attempts, so that failures do not flatter them. `counts` are of
// the load, or of one of its paths.
template <class Counts>
void add_response(std::string& text, std::string_view name, Counts const& counts)
{
    latency const& times = counts.response;
    if (times.count() == 0)
        return;
    auto const t = [](std::uint64_t ns) { return in_words(static_cast<double>(ns)); };
    auto const p = [&](double level) {
        auto const found = counts.response_percentile(level);
        return found ? t(*found) : std::string{"-"};
    };
    fmt::format_to(
        std::back_inserter(text), "  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", name,
        t(times.min()), in_words(times.mean()), p(50), p(90), p(99), p(99.9), p(100));
}

// The unit of a load's transactions, where it is not any.
std::string_view unit_of(tally const& counts) noexcept
{
    if (!counts.websocket)
        return "";
    return counts.websocket->use == websocket_use::echo ? "messages " : "openings ";
}

// The begin of a response. A message counts from when it was due only if its connection is kept.
std::string_view begin_of_response(result const& result) noexcept
{
    if (result.times_messages_alone())
        return "the start of each message";
    return result.rate_asked ? "the intended start" : "the start";
}

// The end of a response.
std::string_view end_of_response(tally const& counts) noexcept
{
    if (!counts.websocket)
        return "the answer's last byte";
    return counts.websocket->use == websocket_use::echo ? "the echo's last byte"
                                                        : "the end of the opening";
}

// Percentiles of all openings, so that those that failed do not flatter them.
void add_opening(std::string& text, websocket_counts const& counts)
{
    if (counts.opening.count() == 0)
        return;
    auto const t = [](std::uint64_t ns) { return in_words(static_cast<double>(ns)); };
    auto const p = [&](double level) {
        auto const found = counts.opening_percentile(level);
        return found ? t(*found) : std::string{"-"};
    };
    fmt::format_to(
        std::back_inserter(text), "  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "WebSocket opening", t(counts.opening.min()), in_words(counts.opening.mean()), p(50), p(90),
        p(99), p(99.9), p(100));
}

void add_websocket(std::string& text, result const& result)
{
    websocket_counts const& counts = *result.counts.websocket;
    auto const out = std::back_inserter(text);
    std::uint64_t const failed = counts.openings - counts.opened();
    fmt::format_to(
        out, "  openings              {}, {} failed ({:.3g} %)", counts.openings, failed,
        share_of(failed, counts.openings));
    if (counts.opened_in_time != 0)
        fmt::format_to(out, ", {:.1f}/s", result.opening_rate());
    fmt::format_to(
        out, "\n  received              {} messages, {} pings\n", counts.messages, counts.pings);
}

void add_http2(std::string& text, http2_counts const& counts)
{
    auto const out = std::back_inserter(text);
    fmt::format_to(
        out, "  HTTP/2                {} stream{} on each connection, at most {} open at once",
        counts.streams, counts.streams == 1 ? "" : "s", counts.open_max);
    if (counts.limited != 0)
        fmt::format_to(
            out, "; fewer allowed on {} of {} connections", counts.limited, counts.connections);
    if (counts.goaways != 0)
        fmt::format_to(
            out, "\n                        {} ended by GOAWAY, {} request{} sent again",
            counts.goaways, counts.resent, counts.resent == 1 ? "" : "s");
    text += '\n';
}

void add_latency(std::string& text, std::string_view name, latency const& times)
{
    if (times.count() == 0)
        return;
    auto const t = [](std::uint64_t ns) { return in_words(static_cast<double>(ns)); };
    fmt::format_to(
        std::back_inserter(text), "  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", name,
        t(times.min()), in_words(times.mean()), t(times.percentile(50)), t(times.percentile(90)),
        t(times.percentile(99)), t(times.percentile(99.9)), t(times.max()));
}

// The target and the settings; a merged result has a line for each generator.
void add_asked(std::string& text, result const& result)
{
    auto const out = std::back_inserter(text);
    fmt::format_to(out, "{}", result.target);
    std::string_view between = ", ";
    for (auto const& [name, value] : result.asked) {
        if (value.empty())
            fmt::format_to(out, "\n{}: ", name);
        else
            fmt::format_to(out, "{}{} {}", between, name, value);
        between = value.empty() ? "" : ", ";
    }
    fmt::format_to(out, "\n\n");
}

// The CPU of a transaction, or of all where none was ok.
std::string cost(std::chrono::nanoseconds cpu, std::uint64_t transactions)
{
    if (transactions == 0)
        return in_words(static_cast<double>(cpu.count())) + " of CPU, and no transaction was ok";
    return in_words(static_cast<double>(cpu.count()) / static_cast<double>(transactions)) +
           " per transaction";
}

void add_costs(std::string& text, result const& result)
{
    auto const out = std::back_inserter(text);
    tally const& counts = result.counts;
    fmt::format_to(
        out, "\n  generator             {}; busiest of {} workers {:.0f} % busy\n",
        cost(counts.cpu, counts.ok), result.worker_cpu.size(), result.busiest() * 100);
    if (!result.worker_waited.empty())
        fmt::format_to(
            out, "                        a worker waited for a core {:.0f} % of the time\n",
            result.waited() * 100);
    if (result.server)
        fmt::format_to(
            out, "  server                {}; {:.2f} cores busy\n",
            cost(result.server->cpu, counts.ok), result.server->cores);
}

void add_counts(std::string& text, result const& result)
{
    auto const out = std::back_inserter(text);
    tally const& counts = result.counts;
    double const time = in_seconds(result.measured + result.drain);
    fmt::format_to(
        out,
        "  attempts              {}\n"
        "  failed                {} ({:.3g} %)\n",
        counts.attempts, counts.failed(), share_of(counts.failed(), counts.attempts));
    for (auto const& [failure, count] : counts.failures)
        fmt::format_to(
            out, "    {:10} {:24} {} ({:.3g} %)\n", name_of(failure.stage), failure.kind, count,
            share_of(count, counts.attempts));
    for (path_counts const& each : counts.paths)
        fmt::format_to(
            out, "  {:20}  {} attempts, {} failed ({:.3g} %)\n", each.path, each.attempts,
            each.attempts - each.ok, share_of(each.attempts - each.ok, each.attempts));
    fmt::format_to(
        out, "  handshakes            {} full, {} resumed ({:.2f} %; {} offered)\n", counts.full,
        counts.resumed, share_of(counts.resumed, counts.full + counts.resumed), counts.offered);
    for (agreement const& each : counts.agreed)
        fmt::format_to(
            out, "    {} {} {}: {}\n", each.version, each.cipher, each.group, each.count);
    if (counts.websocket)
        add_websocket(text, result);
    if (counts.http2)
        add_http2(text, *counts.http2);
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
}

// Each host of several, and how near to each other they began.
void add_hosts(std::string& text, result const& result)
{
    if (result.hosts.empty())
        return;
    auto const out = std::back_inserter(text);
    auto const ns = [](std::chrono::nanoseconds t) {
        return in_words(static_cast<double>(t.count()));
    };
    fmt::format_to(
        out, "\n  hosts                 {} of {}, which began within {} of each other\n",
        result.hosts.size() - result.hosts_lost(), result.hosts.size(), ns(result.hosts_apart()));
    for (load_host const& each : result.hosts) {
        fmt::format_to(out, "    {:20}", each.name);
        if (!each.lost.empty()) {
            fmt::format_to(out, "LOST: {}\n", each.lost);
            continue;
        }
        fmt::format_to(
            out, "{:.1f}/s, {} ok of {}{}{}{}\n", each.rate, each.ok, each.attempts,
            each.late.count() != 0 ? fmt::format(", began {} late", ns(each.late)) : "",
            each.limited ? ", CLIENT-LIMITED" : "",
            each.copied ? ", with a copy of cleat-bench" : "");
    }
}

void add_latencies(std::string& text, result const& result)
{
    auto const out = std::back_inserter(text);
    tally const& counts = result.counts;
    fmt::format_to(
        out, "\n  {:22}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "min", "mean", "p50",
        "p90", "p99", "p99.9", "max");
    add_latency(text, "TCP connect", counts.tcp);
    add_latency(text, "TLS handshake, full", counts.tls);
    add_latency(text, "TLS handshake, resumed", counts.tls_resumed);
    if (counts.websocket)
        add_opening(text, *counts.websocket);
    add_latency(text, "first byte", counts.first_byte);
    add_response(text, "response", counts);
    for (path_counts const& each : counts.paths)
        add_response(text, "  " + each.path, each);
    if (result.rate_asked)
        add_latency(text, "slip", counts.slip);
    add_latency(text, "event-loop lag", counts.lag);
    fmt::format_to(
        out, "  Response counts from {} to {}.\n", begin_of_response(result),
        end_of_response(counts));
    if (std::uint64_t const failed = counts.failed(); failed != 0 && counts.response.count() != 0)
        fmt::format_to(
            out,
            "  Its percentiles are of all {} attempts: the {} that failed had no response and rank "
            "last,\n  so a percentile above {:.4g} % is not known. Its mean is of the {} that were "
            "ok.\n",
            counts.attempts, failed, floor_share(counts.ok, counts.attempts), counts.ok);
    std::uint64_t early = 0;
    for (auto const& [failure, count] : counts.failures)
        if (failure.stage <= stage::handshake)
            early += count;
    if (early != 0)
        fmt::format_to(
            out,
            "  TCP, TLS and first byte are of the transactions that came so far: {} failed before "
            "or in\n  their handshake, and are in no percentile of these.\n",
            early);
}

} // namespace

std::string to_text(result const& result)
{
    std::string text;
    auto const out = std::back_inserter(text);
    tally const& counts = result.counts;

    std::string const overload = overload_of(result);
    if (result.partial)
        fmt::format_to(out, "PARTIAL: this run was ended before its time\n");
    if (!overload.empty())
        fmt::format_to(out, "OVERLOADED: {}.\n\n", overload);
    add_asked(text, result);
    if (counts.attempts == 0)
        fmt::format_to(
            out, "  Nothing was measured: no transaction was begun{}.\n",
            result.measured.count() == 0 ? " after the warm-up" : "");

    std::size_t const hosts = std::max<std::size_t>(result.hosts.size() - result.hosts_lost(), 1);
    if (result.rate_asked)
        fmt::format_to(
            out, "  rate asked            {:.1f}/s{}\n", *result.rate_asked,
            result.hosts.empty() ? ""
                                 : fmt::format(
                                       ", {:.1f}/s of each of {} hosts",
                                       *result.rate_asked / static_cast<double>(hosts), hosts));
    fmt::format_to(
        out, "  rate achieved         {:.1f}/s  ({} {}ok in {})\n", result.rate(),
        counts.ok - counts.drained_ok, unit_of(counts),
        in_words(static_cast<double>(result.measured.count())));
    if (counts.drained != 0)
        fmt::format_to(
            out, "  drain                 {}, in which {} of {} ended\n",
            in_words(static_cast<double>(result.drain.count())), counts.drained, counts.attempts);
    add_counts(text, result);
    add_latencies(text, result);
    add_costs(text, result);
    add_hosts(text, result);
    for (std::string const& each : remarks_on(result))
        if (each != overload)
            fmt::format_to(out, "\nNOTE: {}.\n", each);
    for (std::size_t i = 0; i != result.verdict.limits.size(); ++i)
        fmt::format_to(
            out, "\nCLIENT-LIMITED: {}.\n  These figures are not the server's: {}.\n",
            result.verdict.limits[i], result.verdict.cures[i]);
    return text;
}

} // namespace cleat::bench
