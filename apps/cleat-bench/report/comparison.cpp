// Every member is read with its type, so that the page's script gets no other, whichever program
// wrote the file.

#include "report/comparison.hpp"
#include "report/curves.hpp"
#include "result/metric.hpp"
#include "result/result_json.hpp"
#include "text/checked_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

constexpr std::array verdicts{"one round", "too few rounds", "no difference shown", "less", "more"};

using namespace checked;

json::object figures_of(json::value const& round)
{
    json::object found;
    for (metric const each : metrics)
        found[name_of(each)] = number_or_null(round, name_of(each));
    return found;
}

json::value arrivals_of(json::value const& scenario)
{
    json::value const* const found = find(scenario, "arrivals");
    if (found == nullptr)
        return nullptr;
    return json::object{
        {"share", number_or_null(*found, "share")},
        {"rate", number_or_null(*found, "rate")},
        {"weakest", text_or_null(*found, "weakest")}};
}

// Only `established` has it; null for other kinds.
json::value company_of(json::value const& scenario)
{
    if (text(scenario, "kind") != name_of(activity::established))
        return nullptr;
    return json::object{
        {"every_ms", number(scenario, "every_ms")},
        {"beside", text(scenario, "beside")},
        {"beside_connections", number(scenario, "beside_connections")}};
}

json::object scenario_of(json::value const& scenario)
{
    json::object found;
    for (std::string_view const each :
         {"name", "title", "kind", "operation", "key", "tls", "groups", "ciphers", "ciphersuites",
          "text"})
        found[each] = text(scenario, each);
    for (std::string_view const each :
         {"connections", "answer", "reuse", "bytes", "messages", "transactions", "warm_up"})
        found[each] = number(scenario, each);
    // Older documents are all of HTTP/1.1.
    found["streams"] = find(scenario, "streams") == nullptr ? 0 : number(scenario, "streams");
    found["session_ids"] = flag(scenario, "session_ids");
    found["arrivals"] = arrivals_of(scenario);
    found["company"] = company_of(scenario);
    found["server_cpu"] = find(scenario, "server_cpu") == nullptr
                              ? json::value(nullptr)
                              : number_or_null(scenario, "server_cpu");
    return found;
}

json::object ratios_of(json::value const& server)
{
    json::object found;
    json::value const& ratios = member(server, "ratios");
    for (metric const figure : metrics) {
        std::string_view const each = name_of(figure);
        json::value const* const one = find(ratios, each);
        if (one == nullptr)
            continue;
        if (std::ranges::find(verdicts, text(*one, "verdict")) == verdicts.end())
            refuse("verdict", "one that is known here");
        // Documents of before found a difference in two rounds.
        bool const found_one = text(*one, "verdict") == "less" || text(*one, "verdict") == "more";
        bool const too_few = found_one && number(*one, "rounds") < static_cast<double>(rounds_min);
        found[each] = json::object{
            {"median", number(*one, "median")},
            {"min", number(*one, "min")},
            {"max", number(*one, "max")},
            {"verdict", too_few ? json::string{"too few rounds"} : text(*one, "verdict")}};
    }
    return found;
}

// The generator's results of a server's rounds, where the document has them.
std::vector<json::value const*> loads_of(json::value const& server)
{
    std::vector<json::value const*> found;
    for (json::value const& round : list(server, "rounds"))
        if (json::value const* const load = find(round, "load"))
            found.push_back(load);
    return found;
}

// counts_of adds up the counts of the generators in all rounds; null if the document has none.
json::value counts_of(json::value const& server)
{
    std::vector<json::value const*> const loads = loads_of(server);
    if (loads.empty())
        return nullptr;
    double attempts = 0, failed = 0, full = 0, resumed = 0;
    std::map<std::pair<std::string, std::string>, double> kinds;
    json::array limits;
    for (json::value const* const load : loads) {
        attempts += number(*load, "attempts");
        failed += number(*load, "failed");
        full += number(member(*load, "handshakes"), "full");
        resumed += number(member(*load, "handshakes"), "resumed");
        for (json::value const& each : list(*load, "failures"))
            kinds[{text(each, "stage").c_str(), text(each, "kind").c_str()}] +=
                number(each, "count");
        for (json::value const& each : texts(*load, "limits"))
            if (std::ranges::find(limits, each) == limits.end())
                limits.push_back(each);
    }
    json::array failures;
    for (auto const& [failure, count] : kinds)
        failures.push_back(
            json::object{{"stage", failure.first}, {"kind", failure.second}, {"count", count}});
    return json::object{
        {"attempts", attempts}, {"failed", failed},   {"failures", std::move(failures)},
        {"full", full},         {"resumed", resumed}, {"limits", std::move(limits)}};
}

// In so many rounds the server did not keep up with the rate; older documents do not say so.
std::size_t rounds_overloaded(json::value const& server)
{
    std::size_t found = 0;
    for (json::value const* const load : loads_of(server))
        if (find(*load, "kept_up") != nullptr && !flag(*load, "kept_up"))
            ++found;
    return found;
}

// The load of the round with the median of the judged figure, of the rounds with a histogram.
json::value const* typical_load(json::value const& server, std::string_view judged)
{
    std::vector<std::pair<double, json::value const*>> found;
    for (json::value const& round : list(server, "rounds")) {
        json::value const* const load = find(round, "load");
        json::value const* const times = load == nullptr ? nullptr : find(*load, "latency");
        json::value const* const response = times == nullptr ? nullptr : find(*times, "response");
        if (response != nullptr && find(*response, "hdr") != nullptr &&
            find(round, judged) != nullptr)
            found.emplace_back(number(round, judged), load);
    }
    if (found.empty())
        return nullptr;
    std::ranges::stable_sort(found, {}, [](auto const& each) { return each.first; });
    return found[(found.size() - 1) / 2].second;
}

json::value judged_curve(
    json::value const& server, std::string_view judged, std::vector<double> const& grid)
{
    json::value const* const load = typical_load(server, judged);
    if (load == nullptr)
        return nullptr;
    latency decoded;
    read(member(member(*load, "latency"), "response"), decoded);
    auto const attempts = static_cast<std::uint64_t>(number(*load, "attempts"));
    return decoded.count() == 0 ? json::value(nullptr)
                                : json::value(curve_of(decoded, grid, attempts));
}

json::object server_of(
    json::value const& server, std::string_view judged, std::vector<double> const& grid)
{
    json::array rounds;
    for (json::value const& each : list(server, "rounds"))
        rounds.push_back(each.is_null() ? json::value(nullptr) : json::value(figures_of(each)));
    return {
        {"name", text(server, "name")},
        {"command", text(server, "command")},
        {"config", text(server, "config")},
        {"left_out", text_or_null(server, "left_out")},
        {"at_fault", flag(server, "at_fault")},
        {"overloaded", rounds_overloaded(server)},
        {"complaints", texts(server, "complaints")},
        {"medians", figures_of(member(server, "medians"))},
        {"ratios", ratios_of(server)},
        {"rounds", std::move(rounds)},
        {"counts", counts_of(server)},
        {"curve", judged_curve(server, judged, grid)},
    };
}

json::object trial_of(json::value const& trial, std::vector<double> const& grid)
{
    json::value const& scenario = member(trial, "scenario");
    std::string_view const judged =
        name_of(judged_by(text(scenario, "kind"), find(scenario, "arrivals") != nullptr));
    json::value const base = text_or_null(trial, "base");
    json::array servers;
    bool has_base = base.is_null();
    for (json::value const& each : list(trial, "servers")) {
        servers.push_back(server_of(each, judged, grid));
        has_base = has_base || text(each, "name") == base;
    }
    if (!has_base)
        refuse("base", "among the servers");
    return {
        {"scenario", scenario_of(scenario)},
        {"judged", judged},
        {"skipped", text_or_null(trial, "skipped")},
        {"base", base},
        {"servers", std::move(servers)},
    };
}

} // namespace

json::object page_of(json::value const& compared, std::vector<double> const& grid)
{
    json::array trials;
    for (json::value const& each : list(compared, "trials"))
        trials.push_back(trial_of(each, grid));
    return {
        {"command", text(compared, "command")},
        {"started", text(compared, "started")},
        {"partial", flag(compared, "partial")},
        {"rounds", number(compared, "rounds")},
        {"remarks",
         find(compared, "remarks") == nullptr ? json::array{} : texts(compared, "remarks")},
        {"workers", number(compared, "workers")},
        {"server_cores", numbers(compared, "server_cores")},
        {"client_cores", numbers(compared, "client_cores")},
        {"environment", facts(compared, "environment")},
        {"versions", facts(compared, "versions")},
        {"absent", facts(compared, "absent")},
        {"trials", std::move(trials)},
    };
}

std::uint64_t most_values(json::value const& compared)
{
    double most = 0;
    for (json::value const& trial : list(compared, "trials"))
        for (json::value const& server : list(trial, "servers"))
            for (json::value const* const load : loads_of(server))
                if (json::value const* const times = find(*load, "latency"))
                    if (json::value const* const response = find(*times, "response"))
                        most = std::max(most, number(*response, "count"));
    return static_cast<std::uint64_t>(most);
}

std::vector<std::string> servers_of(json::value const& compared)
{
    std::vector<std::string> found;
    for (json::value const& trial : list(compared, "trials"))
        for (json::value const& server : list(trial, "servers"))
            if (std::string name{text(server, "name")};
                std::ranges::find(found, name) == found.end())
                found.push_back(std::move(name));
    return found;
}

} // namespace cleat::bench
