#include "compare/figures.hpp"

#include <algorithm>

namespace cleat::bench {

metric judged_by(scenario const& of) noexcept
{
    return judged_by(name_of(of.kind), of.rate.has_value());
}

std::vector<std::optional<double>> contender::column(metric what) const
{
    std::vector<std::optional<double>> found;
    for (std::optional<round_figures> const& each : rounds)
        found.push_back(each ? (*each)[what] : std::nullopt);
    return found;
}

std::optional<double> contender::typical(metric what) const
{
    std::vector<double> found;
    for (std::optional<double> const& each : column(what))
        if (each)
            found.push_back(*each);
    if (found.empty())
        return std::nullopt;
    return median(std::move(found));
}

bool contender::measured() const noexcept
{
    return std::ranges::any_of(rounds, [](auto const& each) { return each.has_value(); });
}

contender const* trial::find(std::string_view name) const noexcept
{
    auto const found = std::ranges::find(servers, name, &contender::name);
    return found == servers.end() ? nullptr : &*found;
}

bool comparison::sound() const noexcept
{
    return std::ranges::none_of(trials, [](trial const& each) {
        return std::ranges::any_of(each.servers, &contender::at_fault);
    });
}

std::string choose_base(trial const& of, std::string const& asked)
{
    contender const* const wanted = of.find(asked);
    if (wanted != nullptr && wanted->measured())
        return asked;
    auto const first = std::ranges::find_if(of.servers, &contender::measured);
    return first == of.servers.end() ? "" : first->name;
}

} // namespace cleat::bench
