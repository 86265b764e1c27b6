// The document: cleat-bench result, version 1. Histograms are in HdrHistogram's log format beside
// the figures that are read from them, so nothing has to be decoded to be read, and everything can
// be added up.

#include "result/histogram_log.hpp"
#include "result/result_json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace cleat::bench {
json::array in_json(std::vector<fact> const& facts)
{
    json::array found;
    for (auto const& [name, value] : facts)
        found.push_back(json::array{name, value});
    return found;
}

json::array in_json(std::vector<std::string> const& lines)
{
    return json::array(lines.begin(), lines.end()); // With braces it would be of two iterators.
}

json::array in_json(failures const& of)
{
    json::array found;
    for (auto const& [what, count] : of)
        found.push_back(
            json::object{{"stage", name_of(what.where)}, {"kind", what.kind}, {"count", count}});
    return found;
}

json::array in_json(std::vector<agreement> const& of)
{
    json::array found;
    for (agreement const& each : of)
        found.push_back(json::object{
            {"version", each.version},
            {"cipher", each.cipher},
            {"group", each.group},
            {"count", each.count}});
    return found;
}

namespace {

json::object in_json(latency const& of)
{
    histogram::totals const exact = of.exact();
    return {
        {"count", of.count()},
        {"min_ns", of.min()},
        {"mean_ns", of.mean()},
        {"p50_ns", of.percentile(50)},
        {"p90_ns", of.percentile(90)},
        {"p99_ns", of.percentile(99)},
        {"p99_9_ns", of.percentile(99.9)},
        {"max_ns", of.max()},
        {"beyond_max", exact.beyond_max},
        {"sum_ns", json::array{exact.sum_high, exact.sum_low}},
        {"hdr", to_log(of)},
    };
}

json::object in_json(tally const& of)
{
    json::object timeline{{"interval_ns", of.interval_length.count()}};
    json::array attempted, ok, broken, response, longest;
    for (interval const& each : of.timeline) {
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
        {"full", of.full},
        {"resumed", of.resumed},
        {"offered", of.offered},
        {"agreed", in_json(of.agreed)}};
    if (of.early)
        handshakes["early_data"] = json::object{
            {"offered", of.early->offered},
            {"accepted", of.early->accepted},
            {"rejected", of.early->rejected}};
    return {
        {"attempts", of.attempts},
        {"ok", of.ok},
        {"failed", of.failed()},
        {"failures", in_json(of.failures)},
        {"connections", of.connections},
        {"handshakes", std::move(handshakes)},
        {"bytes", json::object{{"up", of.bytes_up}, {"down", of.bytes_down}}},
        {"latency",
         json::object{
             {"tcp", in_json(of.tcp)},
             {"tls", in_json(of.tls)},
             {"tls_resumed", in_json(of.tls_resumed)},
             {"first_byte", in_json(of.first_byte)},
             {"response", in_json(of.response)},
             {"slip", in_json(of.slip)},
             {"lag", in_json(of.lag)}}},
        {"drained", of.drained},
        {"timeline", std::move(timeline)},
        {"cpu_ns", of.cpu.count()},
    };
}

std::uint64_t number(json::value const& of)
{
    return of.to_number<std::uint64_t>();
}

std::string text(json::value const& of)
{
    return std::string{of.as_string()};
}

std::vector<fact> facts(json::value const& from)
{
    std::vector<fact> found;
    for (json::value const& pair : from.as_array())
        found.emplace_back(text(pair.at(0)), text(pair.at(1)));
    return found;
}

void read(json::value const& from, tally& into)
{
    into.attempts = number(from.at("attempts"));
    into.ok = number(from.at("ok"));
    for (json::value const& each : from.at("failures").as_array()) {
        failure what;
        if (!parse(text(each.at("stage")), what.where))
            throw std::runtime_error{"unknown stage " + text(each.at("stage"))};
        what.kind = text(each.at("kind"));
        into.failures[what] += number(each.at("count"));
    }
    if (into.ok + into.failed() != into.attempts)
        throw std::runtime_error{"outcomes do not add up to attempts"};
    into.connections = number(from.at("connections"));
    json::value const& handshakes = from.at("handshakes");
    into.full = number(handshakes.at("full"));
    into.resumed = number(handshakes.at("resumed"));
    into.offered = number(handshakes.at("offered"));
    if (json::value const* const early = handshakes.as_object().if_contains("early_data"))
        into.early = {
            number(early->at("offered")), number(early->at("accepted")),
            number(early->at("rejected"))};
    for (json::value const& each : handshakes.at("agreed").as_array())
        into.agreed.push_back(
            {text(each.at("version")), text(each.at("cipher")), text(each.at("group")),
             number(each.at("count"))});
    into.bytes_up = number(from.at("bytes").at("up"));
    into.bytes_down = number(from.at("bytes").at("down"));
    json::value const& times = from.at("latency");
    read(times.at("tcp"), into.tcp);
    read(times.at("tls"), into.tls);
    read(times.at("tls_resumed"), into.tls_resumed);
    read(times.at("first_byte"), into.first_byte);
    read(times.at("response"), into.response);
    read(times.at("slip"), into.slip);
    // Results of before there was such a thing have none.
    if (json::value const* const lag = times.as_object().if_contains("lag"))
        read(*lag, into.lag);
    if (json::value const* const drained = from.as_object().if_contains("drained"))
        into.drained = number(*drained);
    json::value const& timeline = from.at("timeline");
    into.interval_length = std::chrono::nanoseconds{number(timeline.at("interval_ns"))};
    if (into.interval_length.count() <= 0)
        throw std::runtime_error{"the timeline has no interval"};
    into.timeline.resize(timeline.at("attempted").as_array().size());
    for (std::size_t i = 0; i != into.timeline.size(); ++i)
        into.timeline[i] = {
            number(timeline.at("attempted").at(i)), number(timeline.at("ok").at(i)),
            number(timeline.at("failed").at(i)), number(timeline.at("response_sum_ns").at(i)),
            number(timeline.at("response_max_ns").at(i))};
    into.cpu = std::chrono::nanoseconds{number(from.at("cpu_ns"))};
}

} // namespace

void read(json::value const& from, latency& into)
{
    if (!add_log(from.at("hdr").as_string(), into) || into.count() != number(from.at("count")))
        throw std::runtime_error{"a histogram is damaged, or not of cleat-bench"};
    if (into.count() != 0)
        into.restore({
            .min = number(from.at("min_ns")),
            .max = number(from.at("max_ns")),
            .sum_low = number(from.at("sum_ns").at(1)),
            .sum_high = number(from.at("sum_ns").at(0)),
            .beyond_max = number(from.at("beyond_max")),
        });
}

json::object document_of(result const& of)
{
    json::object document{
        {"cleat_bench", document_version},
        {"kind", "load"},
        {"name", of.name},
        {"command", of.command},
        {"target", of.target},
        {"started", in_utc(of.started)},
        {"measured_ns", of.measured.count()},
        {"drain_ns", of.drain.count()},
        {"partial", of.partial},
        {"asked", in_json(of.asked)},
        {"rate", of.rate()},
        {"client_limited", of.verdict.client_limited()},
        {"limits", in_json(of.verdict.limits)},
        {"cures", in_json(of.verdict.cures)},
        {"remarks", in_json(remarks_on(of))},
        {"environment", in_json(of.environment)},
    };
    if (of.rate_asked)
        document["rate_asked"] = *of.rate_asked;
    json::array cpu;
    for (std::chrono::nanoseconds const each : of.worker_cpu)
        cpu.push_back(each.count());
    document["worker_cpu_ns"] = std::move(cpu);
    json::array waited;
    for (std::chrono::nanoseconds const each : of.worker_waited)
        waited.push_back(each.count());
    document["worker_waited_ns"] = std::move(waited);
    json::array wall;
    for (std::chrono::nanoseconds const each : of.worker_wall)
        wall.push_back(each.count());
    document["worker_wall_ns"] = std::move(wall);
    if (of.server)
        document["server"] = json::object{
            {"pids", json::array(of.server->pids.begin(), of.server->pids.end())},
            {"cpu_ns", of.server->cpu.count()},
            {"cores", of.server->cores}};
    for (auto& [name, value] : in_json(of.counts))
        document[name] = std::move(value);
    return document;
}

std::string to_json(result const& of)
{
    return json::serialize(document_of(of)) + "\n";
}

namespace {

result read_result(json::value const& document)
{
    if (document.at("cleat_bench").to_number<int>() != document_version ||
        document.at("kind").as_string() != "load")
        throw std::runtime_error{"it is not a load's result of this version"};
    result found;
    found.name = text(document.at("name"));
    found.command = text(document.at("command"));
    found.target = text(document.at("target"));
    found.started = from_utc(text(document.at("started")));
    found.measured = std::chrono::nanoseconds{number(document.at("measured_ns"))};
    if (json::value const* const drain = document.as_object().if_contains("drain_ns"))
        found.drain = std::chrono::nanoseconds{number(*drain)};
    found.partial = document.at("partial").as_bool();
    found.asked = facts(document.at("asked"));
    found.environment = facts(document.at("environment"));
    for (json::value const& each : document.at("limits").as_array())
        found.verdict.limits.push_back(text(each));
    for (json::value const& each : document.at("cures").as_array())
        found.verdict.cures.push_back(text(each));
    if (json::value const* const rate = document.as_object().if_contains("rate_asked"))
        found.rate_asked = rate->to_number<double>();
    for (json::value const& each : document.at("worker_cpu_ns").as_array())
        found.worker_cpu.emplace_back(number(each));
    if (json::value const* const waited = document.as_object().if_contains("worker_waited_ns"))
        for (json::value const& each : waited->as_array())
            found.worker_waited.emplace_back(number(each));
    if (json::value const* const wall = document.as_object().if_contains("worker_wall_ns"))
        for (json::value const& each : wall->as_array())
            found.worker_wall.emplace_back(number(each));
    if (json::value const* const server = document.as_object().if_contains("server")) {
        found.server.emplace();
        for (json::value const& each : server->at("pids").as_array())
            found.server->pids.push_back(each.to_number<int>());
        found.server->cpu = std::chrono::nanoseconds{number(server->at("cpu_ns"))};
        if (json::value const* const cores = server->as_object().if_contains("cores"))
            found.server->cores = cores->to_number<double>();
        else if (found.measured.count() > 0)
            found.server->cores = in_seconds(found.server->cpu) / in_seconds(found.measured);
    }
    read(document, found.counts);
    return found;
}

[[noreturn]] void refuse(std::string const& origin, std::exception const& why)
{
    throw std::runtime_error{
        fmt::format("{}: not a result of cleat-bench load: {}", origin, why.what())};
}

} // namespace

result from_document(json::value const& document, std::string const& origin)
try {
    return read_result(document);
} catch (std::exception const& e) {
    refuse(origin, e);
}

result from_json(std::string const& from, std::string const& origin)
{
    // What Boost would throw names its own source, too.
    boost::system::error_code error;
    json::value const document = json::parse(from, error);
    if (error)
        throw std::runtime_error{fmt::format(
            "{}: not JSON ({}): name a file that cleat-bench wrote with --json", origin,
            error.message())};
    return from_document(document, origin);
}

} // namespace cleat::bench
