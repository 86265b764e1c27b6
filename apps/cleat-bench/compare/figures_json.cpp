// The document of a comparison, version 1: {"cleat_bench": 1, "kind": "compare", ...}. A null was
// not measured.

#include "compare/figures_json.hpp"
#include "result/result_json.hpp"
#include "text/times.hpp"

namespace cleat::bench {
namespace {

std::string_view figure_json(finding what)
{
    switch (what) {
    case finding::one_round:
        return "one round";
    case finding::too_few:
        return "too few rounds";
    case finding::no_difference:
        return "no difference shown";
    case finding::less:
        return "less";
    case finding::more:
        break;
    }
    return "more";
}

json::value arrivals_in_json(scenario_figures const& trial)
{
    if (!trial.rate)
        return nullptr;
    scenario_spec const& scenario = trial.scenario;
    bool const part = scenario.rate->of_weakest;
    return json::object{
        {"how", scenario.arrivals == arrivals::poisson ? "poisson" : "constant"},
        {"rate", trial.rate->rate},
        {"share", part ? json::value(scenario.rate->value) : json::value(nullptr)},
        {"weakest", part ? json::value(trial.rate->weakest) : json::value(nullptr)},
        {"capacity", part ? json::value(trial.rate->capacity) : json::value(nullptr)},
    };
}

json::object scenario_in_json(scenario_figures const& trial)
{
    scenario_spec const& scenario = trial.scenario;
    return {
        {"name", scenario.name},
        {"title", scenario.title},
        {"kind", name_of(scenario.kind)},
        {"operation", operation_name(scenario)},
        {"key", scenario.key},
        {"tls", scenario.tls},
        {"groups", scenario.groups},
        {"ciphers", scenario.ciphers},
        {"ciphersuites", scenario.ciphersuites},
        {"connections", scenario.connections},
        {"streams", scenario.streams},
        {"answer", scenario.answer},
        {"reuse", scenario.reuse},
        {"session_ids", scenario.session_ids},
        {"finished_alone", scenario.finished_alone},
        {"arrivals", arrivals_in_json(trial)},
        {"every_ms", scenario.every.count()},
        {"duration_ms", scenario.duration.count()},
        {"beside", name_of(scenario.beside)},
        {"beside_connections", scenario.beside_connections},
        {"server_cpu", in_json(scenario.server_cpu)},
        {"bytes", scenario.bytes},
        {"messages", scenario.messages},
        {"transactions", scenario.transactions},
        {"warm_up", scenario.warm_up},
        {"text", scenario.text},
    };
}

json::object figure_json(round_figures const& round, bool idle)
{
    json::object found;
    for (metric const each : metrics)
        found[name_of(each)] = in_json(round[each]);
    if (idle) {
        json::array points;
        for (auto const& [connections, bytes] : round.idle)
            points.push_back(json::object{{"connections", connections}, {"bytes", bytes}});
        found["idle"] = std::move(points);
    } else {
        found["load"] = document_of(round.load);
        if (!round.calls.empty()) {
            json::array calls;
            for (auto const& [name, count] : round.calls)
                calls.push_back(json::object{{"name", name}, {"count", count}});
            found["calls"] = std::move(calls);
        }
        if (round.beside)
            found["beside"] = document_of(*round.beside);
    }
    return found;
}

json::object figure_json(server_figures const& server, scenario_figures const& trial)
{
    json::array rounds;
    for (std::optional<round_figures> const& each : server.rounds)
        rounds.push_back(
            each ? json::value(figure_json(*each, trial.scenario.kind == activity::idle))
                 : json::value(nullptr));
    json::object medians;
    json::object ratios;
    server_figures const* const base = trial.find(trial.base);
    for (metric const each : metrics) {
        medians[name_of(each)] = in_json(server.median(each));
        // How a queue grew is not compared.
        bool const queued =
            server.overloaded() != 0 || (base != nullptr && base->overloaded() != 0);
        auto const found = base == nullptr || base == &server || queued
                               ? std::nullopt
                               : ratio_of(server.column(each), base->column(each));
        if (found)
            ratios[name_of(each)] = json::object{
                {"median", found->median},
                {"min", found->min},
                {"max", found->max},
                {"rounds", found->rounds},
                {"verdict", figure_json(found->verdict())}};
    }
    return {
        {"name", server.name},
        {"target", server.target.empty() ? json::value(nullptr) : json::value(server.target)},
        {"command", server.command},
        {"config", server.config},
        {"left_out", server.left_out.empty() ? json::value(nullptr) : json::value(server.left_out)},
        {"at_fault", server.at_fault},
        {"complaints", in_json(server.complaints)},
        {"overloaded", server.overloaded()},
        {"capacity", in_json(server.capacity)},
        {"medians", std::move(medians)},
        {"ratios", std::move(ratios)},
        {"rounds", std::move(rounds)},
    };
}

json::object figure_json(scenario_figures const& trial)
{
    json::array servers;
    for (server_figures const& each : trial.servers)
        servers.push_back(figure_json(each, trial));
    return {
        {"scenario", scenario_in_json(trial)},
        {"skipped", trial.skipped.empty() ? json::value(nullptr) : json::value(trial.skipped)},
        {"base", trial.base.empty() ? json::value(nullptr) : json::value(trial.base)},
        {"servers", std::move(servers)},
    };
}

json::array figure_json(std::vector<int> const& numbers)
{
    json::array found;
    for (int const each : numbers)
        found.emplace_back(each);
    return found;
}

} // namespace

json::object document_of(comparison const& found)
{
    json::array trials;
    for (scenario_figures const& each : found.trials)
        trials.push_back(figure_json(each));
    return {
        {"cleat_bench", document_version},
        {"kind", "compare"},
        {"command", found.command},
        {"started", in_utc(found.started)},
        {"partial", found.partial},
        {"rounds", found.rounds},
        {"remarks", in_json(remarks_on(found))},
        {"workers", found.workers},
        {"server_cores", figure_json(found.server_cores)},
        {"client_cores", figure_json(found.client_cores)},
        {"environment", in_json(found.environment)},
        {"versions", in_json(found.versions)},
        {"absent", in_json(found.absent)},
        {"trials", std::move(trials)},
    };
}

std::string to_json(comparison const& found)
{
    return json::serialize(document_of(found)) + '\n';
}

} // namespace cleat::bench
