#include "config/problem_list.hpp"

#include <algorithm>
#include <utility>

namespace cleat::app {

void problem_list::error(location const& where, std::string key, std::string text, std::string cure)
{
    add({problem::severity::error, where, std::move(key), std::move(text), std::move(cure)});
}

void problem_list::warning(location const& where, std::string key, std::string text)
{
    add({problem::severity::warning, where, std::move(key), std::move(text), {}});
}

void problem_list::add(problem found)
{
    std::string const line = to_string(found);
    if (std::ranges::none_of(problems_, [&](problem const& p) { return to_string(p) == line; }))
        problems_.push_back(std::move(found));
}

} // namespace cleat::app
