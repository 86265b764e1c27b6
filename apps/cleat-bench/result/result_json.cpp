// The document: cleat-bench result, version 1. A histogram is in HdrHistogram's log format, so that
// it can be merged, beside the figures computed from it, so that a reader need not decode it.

#include "result/histogram_log.hpp"
#include "result/result_json.hpp"
#include "text/checked_json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cleat::bench {

json::array in_json(std::vector<fact> const& facts)
{
    json::array found;
    for (auto const& [name, value] : facts)
        found.push_back(json::array{name, value});
    return found;
}

json::value in_json(std::optional<double> value)
{
    return value ? json::value(*value) : json::value(nullptr);
}

json::array in_json(std::vector<std::string> const& lines)
{
    return json::array(
        lines.begin(), lines.end()); // Braces would make an array of the two iterators.
}

json::array in_json(failures const& counts)
{
    json::array found;
    for (auto const& [failure, count] : counts)
        found.push_back(json::object{
            {"stage", name_of(failure.stage)}, {"kind", failure.kind}, {"count", count}});
    return found;
}

json::array in_json(std::vector<agreement> const& agreements)
{
    json::array found;
    for (agreement const& each : agreements)
        found.push_back(json::object{
            {"version", each.version},
            {"cipher", each.cipher},
            {"group", each.group},
            {"count", each.count}});
    return found;
}

json::array in_json(std::vector<load_host> const& hosts)
{
    json::array found;
    for (load_host const& each : hosts)
        found.push_back(json::object{
            {"name", each.name},
            {"lost", each.lost.empty() ? json::value(nullptr) : json::value(each.lost)},
            {"late_ns", each.late.count()},
            {"clock_error_ns", each.clock_error.count()},
            {"copied", each.copied},
            {"client_limited", each.limited},
            {"attempts", each.attempts},
            {"ok", each.ok},
            {"rate", each.rate}});
    return found;
}

json::object in_json(latency const& times)
{
    histogram::totals const exact = times.exact();
    json::object found{
        {"count", times.count()}, {"min_ns", times.min()}, {"mean_ns", times.mean()}};
    for (percentile_level const& each : percentile_levels)
        found[fmt::format("{}_ns", each.name)] = times.percentile(each.level);
    found["max_ns"] = times.max();
    found["beyond_max"] = exact.beyond_max;
    found["sum_ns"] = json::array{exact.sum_high, exact.sum_low};
    found["hdr"] = to_log(times);
    return found;
}

namespace {

// The percentiles of all attempts in place of those of the answers; null where a failure has one's
// rank. `max_ns` stays that of the answers.
template <class Counts>
json::object response_json(Counts const& counts, json::object found)
{
    for (percentile_level const& each : percentile_levels) {
        auto const value = counts.response_percentile(each.level);
        found[fmt::format("{}_ns", each.name)] = value ? json::value(*value) : json::value(nullptr);
    }
    found["of"] = counts.attempts;
    return found;
}

json::array paths_json(tally const& counts)
{
    json::array found;
    for (path_counts const& each : counts.paths)
        found.push_back(json::object{
            {"path", each.path},
            {"attempts", each.attempts},
            {"ok", each.ok},
            {"failed", each.attempts - each.ok},
            {"response", response_json(each, in_json(each.response))}});
    return found;
}

// A server without a limit allows the most that a setting can say (RFC 9113, section 6.5.2).
json::object http2_json(http2_counts const& counts)
{
    return {
        {"streams", counts.streams},
        {"streams_open_max", counts.open_max},
        {"connections", counts.connections},
        {"limited", counts.limited},
        {"streams_allowed_min",
         counts.allowed_min ? json::value(*counts.allowed_min) : json::value(nullptr)},
        {"goaways", counts.goaways},
        {"resent", counts.resent},
    };
}

// The openings of WebSockets. Percentiles of their time are of all of them, as those of the
// response.
json::object websocket_json(websocket_counts const& counts)
{
    json::object opening = in_json(counts.opening);
    for (percentile_level const& each : percentile_levels) {
        auto const value = counts.opening_percentile(each.level);
        opening[fmt::format("{}_ns", each.name)] =
            value ? json::value(*value) : json::value(nullptr);
    }
    opening["of"] = counts.openings;
    return {{"use", name_of(counts.use)},    {"openings", counts.openings},
            {"opened", counts.opened()},     {"opened_in_time", counts.opened_in_time},
            {"opening", std::move(opening)}, {"messages", counts.messages},
            {"pings", counts.pings}};
}

json::object tally_json(tally const& counts)
{
    json::object timeline{{"interval_ns", counts.interval_length.count()}};
    json::array attempted, ok, broken, response, longest;
    for (interval const& each : counts.timeline) {
        attempted.push_back(each.attempted);
        ok.push_back(each.ok);
        broken.push_back(each.failed);
        response.push_back(each.response_ns);
        longest.push_back(each.response_ns_max);
    }
    timeline["attempted"] = std::move(attempted);
    timeline["ok"] = std::move(ok);
    timeline["failed"] = std::move(broken);
    timeline["response_sum_ns"] = std::move(response);
    timeline["response_max_ns"] = std::move(longest);
    json::object handshakes{
        {"full", counts.full},
        {"resumed", counts.resumed},
        {"offered", counts.offered},
        {"agreed", in_json(counts.agreed)}};
    if (counts.early)
        handshakes["early_data"] = json::object{
            {"offered", counts.early->offered},
            {"accepted", counts.early->accepted},
            {"rejected", counts.early->rejected}};
    json::object found{
        {"attempts", counts.attempts},
        {"ok", counts.ok},
        {"failed", counts.failed()},
        {"failures", in_json(counts.failures)},
        {"connections", counts.connections},
        {"handshakes", std::move(handshakes)},
        {"paths", paths_json(counts)},
        {"bytes", json::object{{"up", counts.bytes_up}, {"down", counts.bytes_down}}},
        {"latency",
         json::object{
             {"tcp", in_json(counts.tcp)},
             {"tls", in_json(counts.tls)},
             {"tls_resumed", in_json(counts.tls_resumed)},
             {"first_byte", in_json(counts.first_byte)},
             {"response", response_json(counts, in_json(counts.response))},
             {"slip", in_json(counts.slip)},
             {"lag", in_json(counts.lag)}}},
        {"drained", counts.drained},
        {"drained_ok", counts.drained_ok},
        {"pending_at_half", counts.pending_at_half},
        {"timeline", std::move(timeline)},
        {"cpu_ns", counts.cpu.count()},
    };
    if (counts.websocket)
        found["websocket"] = websocket_json(*counts.websocket);
    if (counts.http2)
        found["http2"] = http2_json(*counts.http2);
    return found;
}

using checked::list;
using checked::member;

std::uint64_t number_in(json::value const& value, std::string_view name = "a figure")
{
    boost::system::error_code error;
    auto const found = value.to_number<std::uint64_t>(error);
    if (error)
        checked::refuse(name, "a count");
    return found;
}

std::uint64_t count_member(json::value const& document, std::string_view key)
{
    return number_in(member(document, key), key);
}

std::string text_in(json::value const& value)
{
    return std::string{value.as_string()};
}

std::string text_member(json::value const& document, std::string_view key)
{
    return std::string{checked::text(document, key)};
}

std::vector<fact> facts_from(json::value const& pairs)
{
    std::vector<fact> found;
    for (json::value const& pair : pairs.as_array())
        found.emplace_back(text_in(pair.at(0)), text_in(pair.at(1)));
    return found;
}

} // namespace

failures failures_from(json::array const& list)
{
    failures found;
    for (json::value const& each : list) {
        failure failure;
        if (!parse(text_member(each, "stage"), failure.stage))
            throw std::runtime_error{"unknown stage " + text_member(each, "stage")};
        failure.kind = text_member(each, "kind");
        found[failure] += count_member(each, "count");
    }
    return found;
}

namespace {

void read_timeline(json::value const& timeline, tally& counts)
{
    counts.interval_length = std::chrono::nanoseconds{count_member(timeline, "interval_ns")};
    if (counts.interval_length.count() <= 0)
        throw std::runtime_error{"the timeline has no interval"};
    counts.timeline.resize(list(timeline, "attempted").size());
    for (std::size_t i = 0; i != counts.timeline.size(); ++i)
        counts.timeline[i] = {
            number_in(member(timeline, "attempted").at(i)), number_in(member(timeline, "ok").at(i)),
            number_in(member(timeline, "failed").at(i)),
            number_in(member(timeline, "response_sum_ns").at(i)),
            number_in(member(timeline, "response_max_ns").at(i))};
}

// Older documents have no paths.
void read_counts_of_paths(json::value const& document, tally& counts)
{
    if (json::value const* const paths = document.as_object().if_contains("paths"))
        for (json::value const& each : paths->as_array()) {
            path_counts& one = counts.paths.emplace_back();
            one.path = text_member(each, "path");
            one.attempts = count_member(each, "attempts");
            one.ok = count_member(each, "ok");
            read(member(each, "response"), one.response);
        }
}

void read_websocket(json::value const& document, websocket_counts& counts)
{
    if (!parse(text_member(document, "use"), counts.use))
        throw std::runtime_error{"unknown use of a WebSocket: " + text_member(document, "use")};
    counts.openings = count_member(document, "openings");
    counts.opened_in_time = count_member(document, "opened_in_time");
    counts.messages = count_member(document, "messages");
    counts.pings = count_member(document, "pings");
    read(member(document, "opening"), counts.opening);
    if (counts.opened_in_time > counts.opened() || counts.opened() > counts.openings)
        throw std::runtime_error{"more WebSockets were opened than begun"};
}

void read_http2(json::value const& document, http2_counts& counts)
{
    auto const small = [&](json::value const& value) {
        std::uint64_t const number = number_in(value);
        if (number > UINT32_MAX)
            throw std::runtime_error{"more streams than HTTP/2 has"};
        return static_cast<std::uint32_t>(number);
    };
    counts.streams = small(member(document, "streams"));
    counts.open_max = small(member(document, "streams_open_max"));
    counts.connections = count_member(document, "connections");
    counts.limited = count_member(document, "limited");
    json::value const* const allowed = document.as_object().if_contains("streams_allowed_min");
    if (allowed != nullptr && !allowed->is_null())
        counts.allowed_min = small(*allowed);
    counts.goaways = count_member(document, "goaways");
    counts.resent = count_member(document, "resent");
    if (counts.open_max > counts.streams || counts.limited > counts.connections)
        throw std::runtime_error{"more streams were open than asked for"};
}

void read_tally(json::value const& document, tally& counts)
{
    counts.attempts = count_member(document, "attempts");
    counts.ok = count_member(document, "ok");
    counts.failures = failures_from(list(document, "failures"));
    if (counts.ok + counts.failed() != counts.attempts)
        throw std::runtime_error{"outcomes do not add up to attempts"};
    counts.connections = count_member(document, "connections");
    json::value const& handshakes = member(document, "handshakes");
    counts.full = count_member(handshakes, "full");
    counts.resumed = count_member(handshakes, "resumed");
    counts.offered = count_member(handshakes, "offered");
    if (json::value const* const early = handshakes.as_object().if_contains("early_data"))
        counts.early = {
            count_member(*early, "offered"), count_member(*early, "accepted"),
            count_member(*early, "rejected")};
    for (json::value const& each : list(handshakes, "agreed"))
        counts.agreed.push_back(
            {text_member(each, "version"), text_member(each, "cipher"), text_member(each, "group"),
             count_member(each, "count")});
    read_counts_of_paths(document, counts);
    if (json::value const* const websocket = document.as_object().if_contains("websocket"))
        read_websocket(*websocket, counts.websocket.emplace());
    if (json::value const* const http2 = document.as_object().if_contains("http2"))
        read_http2(*http2, counts.http2.emplace());
    json::value const& bytes = member(document, "bytes");
    counts.bytes_up = count_member(bytes, "up");
    counts.bytes_down = count_member(bytes, "down");
    json::value const& times = member(document, "latency");
    read(member(times, "tcp"), counts.tcp);
    read(member(times, "tls"), counts.tls);
    read(member(times, "tls_resumed"), counts.tls_resumed);
    read(member(times, "first_byte"), counts.first_byte);
    read(member(times, "response"), counts.response);
    read(member(times, "slip"), counts.slip);
    // Older documents have no lag.
    if (json::value const* const lag = times.as_object().if_contains("lag"))
        read(*lag, counts.lag);
    if (json::value const* const drained = document.as_object().if_contains("drained"))
        counts.drained = counts.drained_ok = counts.pending_at_half = number_in(*drained);
    // Documents that have neither do not say which of the drained were ok, nor whether a queue
    // grew.
    counts.drained_ok = std::min(counts.drained_ok, counts.ok);
    if (json::value const* const drained_ok = document.as_object().if_contains("drained_ok"))
        counts.drained_ok = number_in(*drained_ok);
    if (json::value const* const half = document.as_object().if_contains("pending_at_half"))
        counts.pending_at_half = number_in(*half);
    if (counts.drained_ok > std::min(counts.drained, counts.ok))
        throw std::runtime_error{"more were drained than ended"};
    read_timeline(member(document, "timeline"), counts);
    counts.cpu = std::chrono::nanoseconds{count_member(document, "cpu_ns")};
}

std::vector<load_host> hosts_from(json::array const& list)
{
    std::vector<load_host> found;
    for (json::value const& each : list)
        found.push_back(
            {.name = text_member(each, "name"),
             .lost = checked::find(each, "lost") == nullptr ? "" : text_member(each, "lost"),
             .late = std::chrono::nanoseconds{count_member(each, "late_ns")},
             .clock_error = std::chrono::nanoseconds{count_member(each, "clock_error_ns")},
             .copied = checked::flag(each, "copied"),
             .limited = checked::flag(each, "client_limited"),
             .attempts = count_member(each, "attempts"),
             .ok = count_member(each, "ok"),
             .rate = checked::number(each, "rate")});
    return found;
}

} // namespace

void read(json::value const& document, latency& latency)
{
    if (!add_log(member(document, "hdr").as_string(), latency) ||
        latency.count() != count_member(document, "count"))
        throw std::runtime_error{"a histogram is damaged, or not of cleat-bench"};
    if (latency.count() != 0)
        latency.restore({
            .min = count_member(document, "min_ns"),
            .max = count_member(document, "max_ns"),
            .sum_low = number_in(member(document, "sum_ns").at(1)),
            .sum_high = number_in(member(document, "sum_ns").at(0)),
            .beyond_max = count_member(document, "beyond_max"),
        });
}

json::object document_of(result const& result)
{
    json::object document{
        {"cleat_bench", document_version},
        {"kind", "load"},
        {"name", result.name},
        {"command", result.command},
        {"target", result.target},
        {"started", in_utc(result.started)},
        {"measured_ns", result.measured.count()},
        {"drain_ns", result.drain.count()},
        {"partial", result.partial},
        {"asked", in_json(result.asked)},
        {"rate", result.rate()},
        {"kept_up", result.kept_up()},
        {"client_limited", result.verdict.client_limited()},
        {"limits", in_json(result.verdict.limits)},
        {"cures", in_json(result.verdict.cures)},
        {"remarks", in_json(remarks_on(result))},
        {"environment", in_json(result.environment)},
    };
    if (result.rate_asked)
        document["rate_asked"] = *result.rate_asked;
    if (result.counts.websocket)
        document["opening_rate"] = result.opening_rate();
    json::array cpu;
    for (std::chrono::nanoseconds const each : result.worker_cpu)
        cpu.push_back(each.count());
    document["worker_cpu_ns"] = std::move(cpu);
    json::array waited;
    for (std::chrono::nanoseconds const each : result.worker_waited)
        waited.push_back(each.count());
    document["worker_waited_ns"] = std::move(waited);
    json::array wall;
    for (std::chrono::nanoseconds const each : result.worker_wall)
        wall.push_back(each.count());
    document["worker_wall_ns"] = std::move(wall);
    if (!result.hosts.empty())
        document["hosts"] = in_json(result.hosts);
    if (result.server)
        document["server"] = json::object{
            {"pids", json::array(result.server->pids.begin(), result.server->pids.end())},
            {"cpu_ns", result.server->cpu.count()},
            {"cores", result.server->cores}};
    for (auto& [name, value] : tally_json(result.counts))
        document[name] = std::move(value);
    return document;
}

std::string to_json(result const& result)
{
    return json::serialize(document_of(result)) + "\n";
}

namespace {

void check_kind(json::value const& document)
{
    json::value const* const version = checked::find(document, "cleat_bench");
    json::value const* const kind = checked::find(document, "kind");
    if (version == nullptr || kind == nullptr || !kind->is_string())
        throw std::runtime_error{"it is no document of cleat-bench"};
    if (*version != document_version)
        throw std::runtime_error{fmt::format(
            "it has version {}, and this program reads version {}", json::serialize(*version),
            document_version)};
    if (kind->as_string() != "load")
        throw std::runtime_error{
            fmt::format("it is a result of cleat-bench {}", std::string_view{kind->as_string()})};
}

result result_from(json::value const& document)
{
    check_kind(document);
    result found;
    found.name = text_member(document, "name");
    found.command = text_member(document, "command");
    found.target = text_member(document, "target");
    found.started = from_utc(text_member(document, "started"));
    found.measured = std::chrono::nanoseconds{count_member(document, "measured_ns")};
    if (json::value const* const drain = document.as_object().if_contains("drain_ns"))
        found.drain = std::chrono::nanoseconds{number_in(*drain)};
    found.partial = checked::flag(document, "partial");
    found.asked = facts_from(member(document, "asked"));
    found.environment = facts_from(member(document, "environment"));
    for (json::value const& each : list(document, "limits"))
        found.verdict.limits.push_back(text_in(each));
    for (json::value const& each : list(document, "cures"))
        found.verdict.cures.push_back(text_in(each));
    if (json::value const* const rate = document.as_object().if_contains("rate_asked"))
        found.rate_asked = rate->to_number<double>();
    for (json::value const& each : list(document, "worker_cpu_ns"))
        found.worker_cpu.emplace_back(number_in(each));
    if (json::value const* const waited = document.as_object().if_contains("worker_waited_ns"))
        for (json::value const& each : waited->as_array())
            found.worker_waited.emplace_back(number_in(each));
    if (json::value const* const wall = document.as_object().if_contains("worker_wall_ns"))
        for (json::value const& each : wall->as_array())
            found.worker_wall.emplace_back(number_in(each));
    if (json::value const* const server = document.as_object().if_contains("server")) {
        found.server.emplace();
        for (json::value const& each : list(*server, "pids"))
            found.server->pids.push_back(each.to_number<int>());
        found.server->cpu = std::chrono::nanoseconds{count_member(*server, "cpu_ns")};
        if (json::value const* const cores = server->as_object().if_contains("cores"))
            found.server->cores = cores->to_number<double>();
        else if (found.measured.count() > 0)
            found.server->cores = in_seconds(found.server->cpu) / in_seconds(found.measured);
    }
    if (document.as_object().contains("hosts"))
        found.hosts = hosts_from(list(document, "hosts"));
    read_tally(document, found.counts);
    if (!found.rate_asked && !document.as_object().contains("drained_ok"))
        found.counts.drained_ok = 0; // Their time went on to the last end.
    found.climbs = document.as_object().contains("steps");
    return found;
}

[[noreturn]] void refuse_document(std::string const& origin, std::exception const& why)
{
    throw std::runtime_error{
        fmt::format("{}: not a result of cleat-bench load: {}", origin, why.what())};
}

} // namespace

result from_document(json::value const& document, std::string const& origin)
try {
    return result_from(document);
} catch (std::exception const& e) {
    refuse_document(origin, e);
}

load_document read_load(std::string const& text, std::string const& origin)
{
    // The message of an exception of Boost.JSON would name a file of Boost.
    boost::system::error_code error;
    json::value const document = json::parse(text, error);
    if (error)
        throw std::runtime_error{fmt::format("{}: not JSON ({})", origin, error.message())};
    result found = from_document(document, origin);
    json::object const& members = document.as_object();
    return {
        std::move(found), members.contains("steps")      ? "staircase"
                          : members.contains("transfer") ? "transfer"
                                                         : "load"};
}

result from_json(std::string const& text, std::string const& origin)
{
    return read_load(text, origin).content;
}

} // namespace cleat::bench
