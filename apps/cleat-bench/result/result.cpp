#include "result/result.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// A worker that is busy for a larger share of its time has queues of its own.
constexpr double busy_max = 0.90;
// If one transaction of a hundred starts so late that it is a larger part of the response that one
// of a hundred reaches, the figures are the generator's as much as the server's. Where so many
// failed that this response is not known, the highest of these percentiles that is known counts.
constexpr std::array slip_levels{99.0, 90.0, 50.0};
constexpr double slip_share_max = 0.20;
// The clock and the kernel's timers are not better.
constexpr std::uint64_t slip_min = 100'000;
// A worker that waits for a core for a larger share of its time does less than half of its work on
// time, and all its measured times include the wait. Seen on two cores: up to 42 % where the busy
// server shares them, 74 % and more where four endless programs share the worker's core.
constexpr double waited_max = 0.60;
// If one timer of ten is later than this, answers are read as late, and their times are the
// generator's. On the same two cores it was 1 to 16 ms, with 10 to 200 connections. It says nothing
// where half of the responses take so many times longer.
constexpr std::uint64_t lag_max = 25'000'000;
constexpr std::uint64_t lag_response_ratio = 5;
// The server did not keep up if the pending transactions grew, in the second half, by more than
// backlog_max of all and by more than backlog_deviations standard deviations of the pending number.
// This detects a server that is 5 % too slow.
constexpr double backlog_max = 0.02;
constexpr double backlog_deviations = 3;
// resumption_min: handshakes needed for a verdict on the share that resumed. resumption_tolerance:
// the allowed shortfall, since the beginning and the end of the chains add some full handshakes.
constexpr std::uint64_t resumption_min = 10;
constexpr double resumption_tolerance = 0.10;
// If more than this part of an open loop's transactions ended in the drain, a remark says so.
constexpr double drained_max = 0.05;
// A start that is later than this is reported. A host that begins on time begins at the agreed
// moment itself, by its clock.
constexpr std::chrono::nanoseconds late_shown = 1ms;
// Results are one load if they ran together for at least this part of the longest one's time.
constexpr double together_min = 0.90;
// A hundred days of seconds, or three hours of milliseconds.
constexpr std::int64_t timeline_max = 10'000'000;

// Each worker's share of its own time, or where that is not known, of the measured time.
double largest_share(
    std::vector<std::chrono::nanoseconds> const& parts, result const& result) noexcept
{
    double largest = 0;
    for (std::size_t i = 0; i != parts.size(); ++i) {
        std::chrono::nanoseconds const whole =
            result.worker_wall.size() == parts.size() ? result.worker_wall[i] : result.measured;
        if (whole > 0ns)
            largest = std::max(largest, in_seconds(parts[i]) / in_seconds(whole));
    }
    return largest;
}

// How late transactions began, where that is too large a part of a response that the result tells,
// or of an opening, where messages are timed without it; otherwise empty. Failures that only wait
// for the server make no percentile of the generator's.
std::string late_starts(result const& result)
{
    if (!result.rate_asked)
        return {};
    bool const alone = result.times_messages_alone();
    for (double const level : slip_levels) {
        std::optional<std::uint64_t> const slow =
            alone ? result.counts.websocket->opening_percentile(level)
                  : result.counts.response_percentile(level);
        if (!slow)
            continue;
        std::uint64_t const slip = result.counts.slip.percentile(level);
        if (slip <= slip_min ||
            static_cast<double>(slip) <= slip_share_max * static_cast<double>(*slow))
            return {};
        return fmt::format(
            "{:g} % of the {} began {} late or more, and {:g} % of the {} took {} or more with it",
            100 - level, alone ? "connections" : "transactions",
            in_words(static_cast<double>(slip)), 100 - level, alone ? "openings" : "responses",
            in_words(static_cast<double>(*slow)));
    }
    return {};
}

} // namespace

std::size_t result::hosts_lost() const noexcept
{
    return static_cast<std::size_t>(
        std::ranges::count_if(hosts, [](load_host const& each) { return !each.lost.empty(); }));
}

std::chrono::nanoseconds result::hosts_apart() const noexcept
{
    std::chrono::nanoseconds first = std::chrono::nanoseconds::max();
    std::chrono::nanoseconds last = std::chrono::nanoseconds::min();
    for (load_host const& each : hosts) {
        if (!each.lost.empty())
            continue;
        first = std::min(first, each.late - each.clock_error);
        last = std::max(last, each.late + each.clock_error);
    }
    return std::max(last, first) - first;
}

double result::rate() const noexcept
{
    double const time = in_seconds(measured);
    return time > 0 ? static_cast<double>(counts.ok - counts.drained_ok) / time : 0;
}

double result::drain_rate() const noexcept
{
    double const time = in_seconds(drain);
    return time > 0 ? static_cast<double>(counts.drained_ok) / time : 0;
}

bool result::times_messages_alone() const noexcept
{
    return counts.websocket && counts.websocket->use == websocket_use::echo &&
           std::ranges::find(asked, "kept connections", &fact::first) == asked.end();
}

double result::opening_rate() const noexcept
{
    double const time = in_seconds(measured);
    return time > 0 && counts.websocket
               ? static_cast<double>(counts.websocket->opened_in_time) / time
               : 0;
}

bool result::kept_up() const noexcept
{
    if (!rate_asked || climbs || measured <= 0ns)
        return true;
    return !queue_grew(
        static_cast<double>(counts.pending_at_half), counts.drained, counts.attempts);
}

bool queue_grew(double before, std::uint64_t after, std::uint64_t transactions) noexcept
{
    double const left = static_cast<double>(after);
    return left - before > std::max(
                               backlog_max * static_cast<double>(transactions),
                               backlog_deviations * std::sqrt(left));
}

double result::busiest() const noexcept
{
    return largest_share(worker_cpu, *this);
}

double result::waited() const noexcept
{
    return largest_share(worker_waited, *this);
}

void take_workers(result& result, std::vector<thread_times> const& workers)
{
    for (thread_times const& each : workers) {
        result.worker_wall.push_back(each.wall);
        result.worker_cpu.push_back(each.cpu);
        if (each.waited)
            result.worker_waited.push_back(*each.waited);
    }
}

verdict judge(result const& result)
{
    verdict found;
    if (result.counts.attempts == 0)
        return found;
    auto const add = [&](std::string limit, std::string cure) {
        found.limits.push_back(std::move(limit));
        found.cures.push_back(std::move(cure));
    };
    if (result.busiest() > busy_max)
        add(fmt::format(
                "a worker of the generator was busy {:.0f} % of the time", result.busiest() * 100),
            "give it more cores (--workers), or run it on more machines (load --hosts)");
    if (std::string late = late_starts(result); !late.empty())
        add(std::move(late), "ask for less, give the generator cores of its own, or run it on more "
                             "machines (load --hosts)");
    std::uint64_t const lag = result.counts.lag.percentile(90);
    std::optional<std::uint64_t> const median = result.counts.response_percentile(50);
    bool const lag_shows = median && lag > lag_max && lag_response_ratio * lag > *median;
    if (result.waited() > waited_max)
        add(fmt::format(
                "a worker of the generator had to wait for a core {:.0f} % of the time",
                result.waited() * 100),
            "give it cores of its own (taskset) and no more --workers than those, end what else "
            "runs there, or run it on another machine");
    else if (lag_shows)
        add(fmt::format(
                "the generator's event loop came {:.1f} ms late or more to 10 % of its timers",
                static_cast<double>(lag) / 1e6),
            "give it cores of its own, ask for fewer connections at once, or run it on more "
            "machines (load --hosts)");
    std::uint64_t ports = 0;
    std::uint64_t files = 0;
    std::uint64_t memory = 0;
    std::uint64_t in_flight = 0;
    for (auto const& [failure, count] : result.counts.failures)
        if (client_limit(failure))
            (failure.kind == "no ports"    ? ports
             : failure.kind == "no files"  ? files
             : failure.kind == "no memory" ? memory
                                           : in_flight) += count;
    if (ports != 0)
        add(fmt::format("{} connections found no port of their own", ports),
            "use more source addresses (--source 127.0.0.1-127.0.0.20 on loopback), or --close "
            "reset");
    if (files != 0)
        add(fmt::format("{} connections found no file descriptor", files),
            "raise the limit of open files (ulimit -n), or ask for less");
    if (memory != 0)
        add(fmt::format("{} connections found no memory", memory), "ask for less");
    if (in_flight != 0)
        add(fmt::format("{} connections found as many open as --in-flight allows", in_flight),
            "allow more with --in-flight, or ask for less");
    return found;
}

namespace {

// Why no early data was accepted; empty where some was, or the load has none.
std::string early_data_remark(tally const& counts)
{
    if (!counts.early || counts.early->accepted != 0 || counts.ok == 0)
        return {};
    if (counts.offered == 0)
        return "no early data was sent: the server gave no session to send it with; turn on its "
               "TLS 1.3 session tickets, or let the run last for more connections";
    if (counts.early->offered == 0)
        return "no early data was sent: the server's sessions do not allow it; turn it on there "
               "(nginx: ssl_early_data on), with TLS 1.3";
    return "the server rejected all early data: see that it is on (nginx: ssl_early_data on), that "
           "all servers behind the address have the same ticket keys, and that --groups begins "
           "with a group that the server takes";
}

// The rate of an open loop has no late answers, so a remark says when many were late.
std::string drain_remark(result const& result)
{
    tally const& counts = result.counts;
    double const much = drained_max * static_cast<double>(counts.attempts);
    if (!result.rate_asked || result.climbs || result.measured <= 0ns || !result.kept_up() ||
        static_cast<double>(counts.drained) <= much)
        return {};
    return fmt::format(
        "{} of {} transactions ended after the time in which they were meant to begin, {:.1f}/s "
        "within it: the server did not keep up, or the run is short beside its response; ask for "
        "less, or let it last longer",
        counts.drained, counts.attempts,
        static_cast<double>(counts.attempts - counts.drained) / in_seconds(result.measured));
}

// The part of the connections that was to resume; unset where none was.
std::optional<double> resumption_asked(std::vector<fact> const& asked)
{
    for (auto const& [name, value] : asked) {
        double const number = std::strtod(value.c_str(), nullptr);
        if (name == "connections per session" && number > 1)
            return 1 - 1 / number;
        if (name == "resume ratio" && number > 0)
            return number;
    }
    return std::nullopt;
}

// Far fewer connections resumed than were to, or none.
std::string resumption_remark(result const& result)
{
    tally const& counts = result.counts;
    std::optional<double> const asked = resumption_asked(result.asked);
    std::uint64_t const all = counts.full + counts.resumed;
    if (!asked || counts.ok == 0 || all < resumption_min)
        return {};
    double const share = static_cast<double>(counts.resumed) / static_cast<double>(all);
    if (share >= *asked - resumption_tolerance)
        return {};
    std::string const why =
        counts.offered == 0
            ? "the server gave no session to resume: turn on its session tickets or its cache, or "
              "let the run last for more connections"
        : counts.resumed == 0
            ? "the server refused every session that was offered: see that all servers behind the "
              "address share their ticket keys or cache"
            : "the other handshakes are full, and cost more: see how long the server's sessions "
              "last, and that all servers behind the address share them";
    return fmt::format(
        "{:.1f} % of the connections resumed a session, and {:.1f} % were to ({} sessions were "
        "offered): {}",
        share * 100, *asked * 100, counts.offered, why);
}

// Fewer streams were open than asked for, because a server allowed no more.
std::string streams_remark(tally const& counts)
{
    if (!counts.http2 || counts.http2->limited == 0)
        return {};
    return fmt::format(
        "the server allowed {} of {} streams on {} of {} connections "
        "(SETTINGS_MAX_CONCURRENT_STREAMS): allow more there, or ask for less with --streams, and "
        "for more connections",
        counts.http2->allowed_min.value_or(0), counts.http2->streams, counts.http2->limited,
        counts.http2->connections);
}

using system_time = std::chrono::system_clock::time_point;

system_time after(system_time begin, std::chrono::nanoseconds length)
{
    return begin + std::chrono::duration_cast<std::chrono::system_clock::duration>(length);
}

void check_settings(std::vector<result> const& parts)
{
    result const* with_server = nullptr;
    for (result const& each : parts) {
        if (each.counts.interval_length != parts.front().counts.interval_length)
            throw std::runtime_error{
                "the results have timelines of different intervals: run all with the same "
                "--interval"};
        std::optional<websocket_counts> const& first = parts.front().counts.websocket;
        std::optional<websocket_counts> const& other = each.counts.websocket;
        if (first.has_value() != other.has_value() || (first && first->use != other->use))
            throw std::runtime_error{
                "one result is of another use of WebSockets than the others, or of none: they "
                "cannot be one load"};
        std::optional<http2_counts> const& by_http2 = parts.front().counts.http2;
        if (by_http2.has_value() != each.counts.http2.has_value() ||
            (by_http2 && by_http2->streams != each.counts.http2->streams))
            throw std::runtime_error{
                "one result is of HTTP/2 with another number of streams than the others, or of "
                "HTTP/1.1: they cannot be one load"};
        if (each.rate_asked.has_value() != parts.front().rate_asked.has_value())
            throw std::runtime_error{
                "one result is of an open loop and one of a closed one: they cannot be one load"};
        if (!each.server)
            continue;
        if (with_server != nullptr && each.server->pids != with_server->server->pids)
            throw std::runtime_error{"the results name different server processes"};
        with_server = &each;
    }
}

void check_distinct(std::vector<result> const& parts)
{
    for (std::size_t i = 0; i != parts.size(); ++i)
        for (std::size_t k = 0; k != i; ++k)
            if (parts[i].started == parts[k].started && to_json(parts[i]) == to_json(parts[k]))
                throw std::runtime_error{fmt::format(
                    "results {} and {} are the same: each generator's result counts once", k + 1,
                    i + 1)};
}

// Rates add up only if they were asked for at the same time. Empty where that is so; otherwise how
// long all ran together: "500 ms of 2.00 s".
std::string too_short_together(std::vector<result> const& parts, together condition)
{
    system_time begin = parts.front().started;
    system_time end = after(begin, parts.front().measured);
    std::chrono::nanoseconds longest{};
    for (result const& each : parts) {
        begin = std::max(begin, each.started);
        end = std::min(end, after(each.started, each.measured));
        longest = std::max(longest, each.measured);
    }
    if (condition == together::the_begin)
        end = after(std::ranges::min(parts, {}, &result::started).started, longest);
    std::chrono::nanoseconds const shared =
        std::max<std::chrono::nanoseconds>(end - begin, std::chrono::nanoseconds{0});
    if (in_seconds(shared) >= together_min * in_seconds(longest))
        return {};
    return fmt::format(
        "{} of {}", in_words(static_cast<double>(shared.count())),
        in_words(static_cast<double>(longest.count())));
}

// Appends the facts of another generator, under a heading.
void add_facts(std::vector<fact>& facts, std::vector<fact> const& more)
{
    auto const is_heading = [](fact const& each) {
        return each.second.empty() && each.first.starts_with("generator ");
    };
    auto number = 1 + std::ranges::count_if(facts, is_heading);
    facts.emplace_back(fmt::format("generator {}", ++number), "");
    for (fact const& each : more) // The other result may be a sum itself.
        facts.push_back(is_heading(each) ? fact{fmt::format("generator {}", ++number), ""} : each);
}

// How many intervals a result's timeline begins after the sum's.
std::size_t intervals_behind(result const& sum, result const& more)
{
    std::chrono::nanoseconds const step = sum.counts.interval_length;
    std::int64_t const behind = (more.started - sum.started + step / 2) / step;
    if (behind + static_cast<std::int64_t>(more.counts.timeline.size()) > timeline_max)
        throw std::runtime_error{"the results' timelines are too long to be added up"};
    return static_cast<std::size_t>(behind);
}

} // namespace

std::string overload_of(result const& result)
{
    if (result.kept_up())
        return {};
    tally const& counts = result.counts;
    auto const busy = counts.failures.find({stage::start, std::string{connection_busy}});
    std::uint64_t const unsent = busy == counts.failures.end() ? 0 : busy->second;
    std::string const ends = fmt::format(
        "took {} more ({:.1f}/s)", in_words(static_cast<double>(result.drain.count())),
        result.drain_rate());
    std::string left = ", and " + ends;
    if (unsent >= counts.drained && unsent != 0)
        left = ": none of these was sent at all, as their connection was busy";
    else if (unsent != 0)
        left = fmt::format(
            ": {} of these were not sent at all, as their connection was busy, and the others {}",
            unsent, ends);
    return fmt::format(
        "it did not keep up: {:.1f}/s were done of {:.1f}/s asked for, and a queue grew; {} of {} "
        "transactions were still waiting when the load ended{}; their times measure how long the "
        "load lasted: ask for less",
        result.rate(), *result.rate_asked, counts.drained, counts.attempts, left);
}

namespace {

// A host that came late to the start, and one that has no part in the figures.
void remark_on_hosts(std::vector<std::string>& found, result const& result)
{
    for (load_host const& each : result.hosts)
        if (!each.lost.empty())
            found.push_back(fmt::format(
                "the host {} was lost, and the figures are of the other {}: {}", each.name,
                result.hosts.size() - result.hosts_lost(), each.lost));
    for (load_host const& each : result.hosts)
        if (each.lost.empty() && each.late >= late_shown)
            found.push_back(fmt::format(
                "the host {} began {} after the others: the way to it is slow, or it is too busy "
                "to begin in time",
                each.name, in_words(static_cast<double>(each.late.count()))));
}

} // namespace

std::vector<std::string> remarks_on(result const& result)
{
    std::vector<std::string> found;
    for (std::string const& each :
         {overload_of(result), early_data_remark(result.counts), resumption_remark(result),
          streams_remark(result.counts), drain_remark(result)})
        if (!each.empty())
            found.push_back(each);
    remark_on_hosts(found, result);
    return found;
}

result merge(std::vector<result> const& parts, together condition)
{
    if (parts.empty())
        throw std::runtime_error{"nothing to merge"};
    check_settings(parts);
    check_distinct(parts);
    std::string const too_short = too_short_together(parts, condition);
    if (!too_short.empty() && condition == together::all_along)
        throw std::runtime_error{fmt::format(
            "the results ran together for {} only, so they are not one load: let the generators "
            "begin together with --start-at, and last equally long",
            too_short)};
    // The timeline of the one that began first.
    auto const first = std::ranges::min_element(parts, {}, &result::started);
    result sum = *first;
    for (result const& more : parts) {
        if (&more == &*first)
            continue;
        sum.counts.merge(more.counts, intervals_behind(sum, more));
        sum.worker_cpu.insert(sum.worker_cpu.end(), more.worker_cpu.begin(), more.worker_cpu.end());
        sum.worker_waited.insert(
            sum.worker_waited.end(), more.worker_waited.begin(), more.worker_waited.end());
        sum.worker_wall.insert(
            sum.worker_wall.end(), more.worker_wall.begin(), more.worker_wall.end());
        if (sum.rate_asked)
            *sum.rate_asked += *more.rate_asked;
        auto const last = std::max(
            after(sum.started, sum.measured + sum.drain),
            after(more.started, more.measured + more.drain));
        auto const end =
            std::max(after(sum.started, sum.measured), after(more.started, more.measured));
        sum.measured = end - sum.started;
        sum.drain = last - end;
        sum.partial = sum.partial || more.partial;
        sum.command += "\n" + more.command;
        if (more.target != sum.target)
            sum.target += ", " + more.target;
        if (!sum.server)
            sum.server = more.server;
        add_facts(sum.asked, more.asked);
        add_facts(sum.environment, more.environment);
        sum.hosts.insert(sum.hosts.end(), more.hosts.begin(), more.hosts.end());
        for (std::size_t k = 0; k != more.verdict.limits.size(); ++k) {
            sum.verdict.limits.push_back(more.verdict.limits[k]);
            sum.verdict.cures.push_back(more.verdict.cures[k]);
        }
    }
    if (!too_short.empty()) {
        sum.verdict.limits.push_back(
            fmt::format("all ran together for {} only, so that this is not one load", too_short));
        sum.verdict.cures.emplace_back(
            "let the load last longer than the begins are apart, and see why one was late");
    }
    return sum;
}

} // namespace cleat::bench
