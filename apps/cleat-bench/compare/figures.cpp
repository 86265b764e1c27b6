#include "compare/figures.hpp"

#include <fmt/format.h>

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

std::size_t server_figures::overloaded() const noexcept
{
    return static_cast<std::size_t>(std::ranges::count_if(
        rounds, [](auto const& each) { return each && !each->load.kept_up(); }));
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

std::vector<std::string> remarks_on(comparison const& found)
{
    std::vector<std::string> remarks;
    if (found.rounds < rounds_enough)
        remarks.push_back(fmt::format(
            "Too few rounds: of two servers that are equal, one is the better in {} by chance{}: "
            "take "
            "{} (--rounds)",
            found.rounds == 1 ? "one round" : fmt::format("all {} rounds", found.rounds),
            found.rounds == 1
                ? " each time"
                : fmt::format(" in one of {} comparisons", std::size_t{1} << (found.rounds - 1)),
            rounds_enough));
    return remarks;
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
