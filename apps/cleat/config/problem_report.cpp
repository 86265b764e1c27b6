#include "config/problem_report.hpp"
#include "system/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace cleat::app {
namespace {

std::string shortened(std::string text, std::size_t size_max)
{
    if (text.size() > size_max)
        text.replace(size_max, std::string::npos, " ...");
    return text;
}

// Those of one grade: files and flags in the order in which they come first, and each file's in
// the order of its lines.
std::vector<problem const*> of_grade(std::vector<problem> const& problems, problem::severity grade)
{
    std::vector<problem const*> found;
    std::map<std::string_view, std::size_t> places; // Of sources.
    for (problem const& each : problems) {
        places.emplace(each.where.source, places.size());
        if (each.grade == grade)
            found.push_back(&each);
    }
    std::ranges::stable_sort(found, {}, [&](problem const* each) {
        location const& where = each->where;
        return std::tuple{places.at(where.source), where.line, where.column};
    });
    return found;
}

} // namespace

std::vector<std::string> problem_report(
    std::vector<problem> const& problems, problem_report_limits const& limits)
{
    std::vector<std::string> lines;
    for (auto const& [grade, count_max, name] :
         {std::tuple{problem::severity::error, limits.errors, "error"},
          std::tuple{problem::severity::warning, limits.warnings, "warning"}}) {
        std::vector<problem const*> const found = of_grade(problems, grade);
        std::size_t const shown = std::min(found.size(), count_max);
        for (std::size_t i = 0; i < shown; ++i)
            lines.push_back(printable(shortened(to_string(*found[i]), limits.line_size)));
        std::size_t const rest = found.size() - shown;
        if (rest != 0)
            lines.push_back(fmt::format("and {} more {}{}", rest, name, rest == 1 ? "" : "s"));
    }
    return lines;
}

} // namespace cleat::app
