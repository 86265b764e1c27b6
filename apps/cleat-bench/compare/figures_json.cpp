// The document of a comparison, version 1: {"cleat_bench": 1, "kind": "compare", ...}. What is null
// was not measured.

#include "compare/figures_json.hpp"
#include "result/result_json.hpp"
#include "text/times.hpp"

namespace cleat::bench {
namespace {

using bench::in_json; // Beside those of this file.

json::value in_json(std::optional<double> value)
{
    return value ? json::value(*value) : json::value(nullptr);
}

std::string_view in_json(finding what)
{
    switch (what) {
    case finding::one_round:
        return "one round";
    case finding::no_difference:
        return "no difference shown";
    case finding::less:
        return "less";
    case finding::more:
        break;
    }
    return "more";
}

json::value arrivals_of(trial const& of)
{
    if (!of.asked)
        return nullptr;
    bool const part = of.what.rate->of_weakest;
    return json::object{
        {"how", of.what.arrivals == arrivals::poisson ? "poisson" : "constant"},
        {"rate", of.asked->rate},
        {"share", part ? json::value(of.what.rate->value) : json::value(nullptr)},
        {"weakest", part ? json::value(of.asked->weakest) : json::value(nullptr)},
        {"capacity", part ? json::value(of.asked->capacity) : json::value(nullptr)},
    };
}

json::object scenario_of(trial const& in)
{
    scenario const& of = in.what;
    return {
        {"name", of.name},
        {"title", of.title},
        {"kind", name_of(of.kind)},
        {"operation", operation_name(of)},
        {"key", of.key},
        {"tls", of.tls},
        {"groups", of.groups},
        {"ciphers", of.ciphers},
        {"ciphersuites", of.ciphersuites},
        {"connections", of.connections},
        {"answer", of.answer},
        {"reuse", of.reuse},
        {"session_ids", of.session_ids},
        {"finished_alone", of.finished_alone},
        {"arrivals", arrivals_of(in)},
        {"every_ms", of.every.count()},
        {"duration_ms", of.duration.count()},
        {"beside", name_of(of.beside)},
        {"beside_connections", of.beside_connections},
        {"server_cpu", in_json(of.server_cpu)},
        {"bytes", of.bytes},
        {"messages", of.messages},
        {"transactions", of.transactions},
        {"warm_up", of.warm_up},
        {"text", of.text},
    };
}

json::object in_json(round_figures const& of, bool idle)
{
    json::object found;
    for (metric const each : metrics)
        found[name_of(each)] = in_json(of[each]);
    if (idle) {
        json::array points;
        for (auto const& [connections, bytes] : of.idle)
            points.push_back(json::object{{"connections", connections}, {"bytes", bytes}});
        found["idle"] = std::move(points);
    } else {
        found["load"] = document_of(of.load);
        if (of.beside)
            found["beside"] = document_of(*of.beside);
    }
    return found;
}

json::object in_json(contender const& of, trial const& in)
{
    json::array rounds;
    for (std::optional<round_figures> const& each : of.rounds)
        rounds.push_back(
            each ? json::value(in_json(*each, in.what.kind == activity::idle))
                 : json::value(nullptr));
    json::object medians;
    json::object ratios;
    contender const* const base = in.find(in.base);
    for (metric const each : metrics) {
        medians[name_of(each)] = in_json(of.typical(each));
        auto const found = base == nullptr || base == &of
                               ? std::nullopt
                               : ratio_of(of.column(each), base->column(each));
        if (found)
            ratios[name_of(each)] = json::object{
                {"median", found->median},
                {"min", found->min},
                {"max", found->max},
                {"rounds", found->rounds},
                {"verdict", in_json(found->says())}};
    }
    return {
        {"name", of.name},
        {"command", of.command},
        {"config", of.config},
        {"left_out", of.left_out.empty() ? json::value(nullptr) : json::value(of.left_out)},
        {"at_fault", of.at_fault},
        {"complaints", in_json(of.complaints)},
        {"capacity", in_json(of.capacity)},
        {"medians", std::move(medians)},
        {"ratios", std::move(ratios)},
        {"rounds", std::move(rounds)},
    };
}

json::object in_json(trial const& of)
{
    json::array servers;
    for (contender const& each : of.servers)
        servers.push_back(in_json(each, of));
    return {
        {"scenario", scenario_of(of)},
        {"skipped", of.skipped.empty() ? json::value(nullptr) : json::value(of.skipped)},
        {"base", of.base.empty() ? json::value(nullptr) : json::value(of.base)},
        {"servers", std::move(servers)},
    };
}

json::array in_json(std::vector<int> const& numbers)
{
    json::array found;
    for (int const each : numbers)
        found.emplace_back(each);
    return found;
}

} // namespace

json::object document_of(comparison const& of)
{
    json::array trials;
    for (trial const& each : of.trials)
        trials.push_back(in_json(each));
    return {
        {"cleat_bench", document_version},
        {"kind", "compare"},
        {"command", of.command},
        {"started", in_utc(of.started)},
        {"partial", of.partial},
        {"rounds", of.rounds},
        {"workers", of.workers},
        {"server_cores", in_json(of.server_cores)},
        {"client_cores", in_json(of.client_cores)},
        {"environment", in_json(of.environment)},
        {"versions", in_json(of.versions)},
        {"absent", in_json(of.absent)},
        {"trials", std::move(trials)},
    };
}

std::string to_json(comparison const& of)
{
    return json::serialize(document_of(of)) + '\n';
}

} // namespace cleat::bench
