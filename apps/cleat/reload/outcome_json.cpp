#include "inspect/json_text.hpp"
#include "inspect/problem_json.hpp"
#include "reload/outcome_json.hpp"

#include <fmt/format.h>

namespace cleat::app {
namespace {

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
    return fmt::format(
        "{{\"done\": {}, \"took_ms\": {}, \"changes\": {}, \"problems\": {}}}\n", outcome.done,
        outcome.took.count(), changes_object(outcome.changes), problems_json(outcome.problems));
}

} // namespace cleat::app
