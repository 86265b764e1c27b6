#include "config/problem_list.hpp"

#include <utility>

namespace cleat::app {

problem_list::problem_list(std::vector<problem>& problems) : problems_{problems}
{
    for (problem const& each : problems_)
        lines_.insert(to_string(each));
}

void problem_list::error(location const& where, std::string key, std::string text, std::string cure)
{
    add({problem::severity::error, where, std::move(key), std::move(text), std::move(cure)});
}

void problem_list::warning(
    location const& where, std::string key, std::string text, std::string cure)
{
    add({problem::severity::warning, where, std::move(key), std::move(text), std::move(cure)});
}

void problem_list::add(problem found)
{
    if (lines_.insert(to_string(found)).second)
        problems_.push_back(std::move(found));
}

} // namespace cleat::app
