#include "inspect/json_text.hpp"
#include "inspect/problem_json.hpp"

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

} // namespace

std::string problems_json(std::span<problem const> problems)
{
    return array_json(problems, problem_object);
}

} // namespace cleat::app
