#include "inspect/json_text.hpp"
#include "reload/outcome_json.hpp"

#include <fmt/format.h>

namespace cleat::app {
namespace {

std::string problem_object(problem const& each)
{
    std::string place = "null";
    if (!each.where.is_built_in())
        place = fmt::format(
            "{{\"source\": {}, \"line\": {}, \"column\": {}}}", json_string(each.where.source),
            each.where.line, each.where.column);
    return fmt::format(
        "{{\"severity\": {}, \"place\": {}, \"key\": {}, \"text\": {}, \"cure\": {}}}",
        json_string(each.grade == problem::severity::error ? "error" : "warning"), place,
        json_string(each.key), json_string(each.text), json_string(each.cure));
}

std::string changes_object(configuration_changes const& changes)
{
    return fmt::format(
        "{{\"keys\": {}, \"frontends_added\": {}, \"frontends_removed\": {}, "
        "\"certificates_added\": {}, \"certificates_removed\": {}, \"certificates_changed\": {}, "
        "\"certificates_skipped\": {}}}",
        json_strings(changes.keys), changes.frontends_added, changes.frontends_removed,
        changes.certificates_added, changes.certificates_removed, changes.certificates_changed,
        changes.certificates_skipped);
}

} // namespace

std::string to_json(reload_outcome const& outcome)
{
    std::string problems;
    for (problem const& each : outcome.problems)
        problems.append(problems.empty() ? "" : ", ").append(problem_object(each));
    return fmt::format(
        "{{\"done\": {}, \"took_ms\": {}, \"changes\": {}, \"problems\": [{}]}}\n", outcome.done,
        outcome.took.count(), changes_object(outcome.changes), problems);
}

} // namespace cleat::app
