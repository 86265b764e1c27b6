#include "config/problem_report.hpp"
#include "reload/reload_outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace cleat::app {
namespace {

// "2 certificates added, 1 changed"; empty where nothing has.
std::string count_text(
    std::string_view noun, std::vector<std::pair<std::size_t, std::string_view>> const& counts)
{
    std::string text;
    for (auto const& [count, verb] : counts) {
        if (count == 0)
            continue;
        text += text.empty() ? fmt::format("{} {}{} {}", count, noun, count == 1 ? "" : "s", verb)
                             : fmt::format(", {} {}", count, verb);
    }
    return text;
}

} // namespace

std::string to_text(reload_outcome const& outcome)
{
    std::string text;
    for (std::string const& line : problem_report(outcome.problems))
        text += fmt::format("cleat: {}\n", line);
    if (!outcome.done)
        return text + "cleat: the reload was refused: nothing has changed\n";
    configuration_changes const& changes = outcome.changes;
    std::string const keys =
        changes.keys.empty() ? "" : fmt::format("changed {}", fmt::join(changes.keys, ", "));
    std::string const frontends = count_text(
        "frontend", {{changes.frontends_added, "added"}, {changes.frontends_removed, "removed"}});
    std::string const certificates = count_text(
        "certificate", {{changes.certificates_added, "added"},
                        {changes.certificates_removed, "removed"},
                        {changes.certificates_changed, "changed"},
                        {changes.certificates_skipped, "skipped"}});
    text += fmt::format("reloaded in {} ms", outcome.took.count());
    std::string_view separator = ": ";
    for (std::string const& each : {keys, frontends, certificates}) {
        if (each.empty())
            continue;
        text += fmt::format("{}{}", separator, each);
        separator = "; ";
    }
    return text + (separator == ": " ? ": nothing has changed\n" : "\n");
}

} // namespace cleat::app
