#include "compare/figures.hpp"

#include <algorithm>

namespace cleat::bench {

metric judged_by(scenario_spec const& scenario) noexcept
{
    return judged_by(name_of(scenario.kind), scenario.rate.has_value());
}

std::vector<std::optional<double>> server_figures::column(metric what) const
{
    std::vector<std::optional<double>> found;
    for (std::optional<round_figures> const& each : rounds)
        found.push_back(each ? (*each)[what] : std::nullopt);
    return found;
}

std::optional<double> server_figures::median(metric what) const
{
    std::vector<double> found;
    for (std::optional<double> const& each : column(what))
        if (each)
            found.push_back(*each);
    if (found.empty())
        return std::nullopt;
    return bench::median(std::move(found));
}

bool server_figures::measured() const noexcept
{
    return std::ranges::any_of(rounds, [](auto const& each) { return each.has_value(); });
}

server_figures const* scenario_figures::find(std::string_view name) const noexcept
{
    auto const found = std::ranges::find(servers, name, &server_figures::name);
    return found == servers.end() ? nullptr : &*found;
}

bool comparison::has_fault() const noexcept
{
    return std::ranges::any_of(trials, [](scenario_figures const& trial) {
        return std::ranges::any_of(trial.servers, &server_figures::at_fault);
    });
}

std::string choose_base(scenario_figures const& trial, std::string const& requested)
{
    server_figures const* const wanted = trial.find(requested);
    if (wanted != nullptr && wanted->measured())
        return requested;
    auto const first = std::ranges::find_if(trial.servers, &server_figures::measured);
    return first == trial.servers.end() ? "" : first->name;
}

} // namespace cleat::bench
