#include "config/problem_report.hpp"
#include "system/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>

namespace cleat::app {
namespace {

std::string shortened(std::string text, std::size_t size_max)
{
    if (text.size() > size_max)
        text.replace(size_max, std::string::npos, " ...");
    return text;
}

} // namespace

std::vector<problem> in_order(std::vector<problem> problems)
{
    std::map<std::string, std::size_t> places; // Of sources: the one that comes first is first.
    for (problem const& each : problems)
        places.emplace(each.where.source, places.size());
    std::ranges::stable_sort(problems, {}, [&](problem const& each) {
        location const& where = each.where;
        return std::tuple{
            each.grade != problem::severity::error, places.at(where.source), where.line,
            where.column};
    });
    return problems;
}

std::vector<std::string> problem_report(
    std::vector<problem> const& problems, problem_report_limits const& limits)
{
    std::vector<problem> const sorted = in_order(problems);
    auto const border = std::ranges::find(sorted, problem::severity::warning, &problem::grade);
    std::span<problem const> const errors{sorted.begin(), border};
    std::span<problem const> const warnings{border, sorted.end()};
    std::vector<std::string> lines;
    for (auto const& [found, count_max, name] :
         {std::tuple{errors, limits.errors, "error"},
          std::tuple{warnings, limits.warnings, "warning"}}) {
        std::size_t const shown = std::min(found.size(), count_max);
        for (std::size_t i = 0; i < shown; ++i)
            lines.push_back(printable(shortened(to_string(found[i]), limits.line_size)));
        std::size_t const rest = found.size() - shown;
        if (rest != 0)
            lines.push_back(fmt::format("and {} more {}{}", rest, name, rest == 1 ? "" : "s"));
    }
    return lines;
}

} // namespace cleat::app
