#include "config/route_settings.hpp"
#include "config/route_text.hpp"
#include "snapshot/limit_planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace cleat::app {
namespace {

// Each worker accepts, so each needs a part of the number.
void check_division(setting<int> const& limit, std::size_t workers, problem_list& problems)
{
    if (*limit != 0 && static_cast<std::size_t>(*limit) < workers)
        problems.error(
            limit.location, "max-connections",
            fmt::format("{} connections cannot be divided among {} workers", *limit, workers),
            fmt::format("Write {} or more, or set workers to fewer.", workers));
}

std::uint32_t number_of(setting<int> const& limit) noexcept
{
    return static_cast<std::uint32_t>(*limit);
}

client_limit limit_from(client_limit_settings const& settings) noexcept
{
    return {
        number_of(settings.connections), number_of(settings.rate),
        *settings.burst != 0 ? number_of(settings.burst) : number_of(settings.rate)};
}

bool limits_clients(limit_plan const& plan) noexcept
{
    auto const is_on = [](frontend_limit const& each) { return each.clients.is_on(); };
    return std::ranges::any_of(plan.frontends, is_on) || std::ranges::any_of(plan.routes, is_on);
}

client_count_plan plan_of_counts(config const& settings) noexcept
{
    return {
        {static_cast<std::uint8_t>(*settings.client_prefix_ipv4),
         static_cast<std::uint8_t>(*settings.client_prefix_ipv6)},
        static_cast<std::size_t>(*settings.client_table_size)};
}

// Several frontends may have the address of any free port.
class counted_names
{
public:
    std::string next(frontend_config const& frontend)
    {
        std::string const address = to_string(frontend.address());
        return fmt::format("{} {}", address, counts_[address]++);
    }

private:
    std::unordered_map<std::string, std::size_t> counts_;
};

void plan_route_limits(
    frontend_config const& frontend, std::string const& name, std::size_t workers, limit_plan& made,
    problem_list& problems)
{
    for (route_config const& each : frontend.routes) {
        if (!has_limits(each))
            continue;
        check_division(each.settings->own.max_connections, workers, problems);
        made.routes.push_back(
            {fmt::format("{} route {}", name, describe(each)),
             number_of(each.settings->own.max_connections), limit_from(client_limits_of(each)),
             true});
    }
}

} // namespace

limit_plan plan_limits(
    config const& settings, std::size_t workers, limit_plan const* before, problem_list& problems)
{
    limit_plan made;
    check_division(settings.max_connections, workers, problems);
    made.connections = number_of(settings.max_connections);
    counted_names names;
    for (frontend_config const& each : settings.frontends) {
        check_division(each.max_connections, workers, problems);
        made.frontends.push_back(
            {names.next(each), number_of(each.max_connections),
             limit_from(client_limits_of(settings, each)), has_client_limits(each)});
        plan_route_limits(each, made.frontends.back().name, workers, made, problems);
    }
    if (limits_clients(made))
        made.clients = plan_of_counts(settings);
    made.keeps_clients = before != nullptr && made.clients.is_counted_alike(before->clients);
    return made;
}

} // namespace cleat::app
