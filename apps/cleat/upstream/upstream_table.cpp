#include "upstream/upstream_table.hpp"

#include <algorithm>
#include <cstring>

namespace cleat::app {

std::string_view to_string(server_state state) noexcept
{
    switch (state) {
    case server_state::serving:
        return "serving";
    case server_state::down:
        return "down";
    case server_state::drained:
        return "drained";
    }
    return "";
}

upstream_table first_table(upstream_plan const& plan)
{
    upstream_table made;
    for (server_plan const& each : plan.servers)
        made.push_back(
            {.addresses = each.addresses,
             .weight = each.weight,
             .state = each.addresses.empty() ? server_state::drained : server_state::serving,
             .is_backup = each.is_backup});
    return made;
}

bool are_same(net::address const& one, net::address const& other) noexcept
{
    return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
}

bool are_same(std::vector<net::address> const& one, std::vector<net::address> const& other) noexcept
{
    return std::ranges::equal(
        one, other, [](net::address const& a, net::address const& b) { return are_same(a, b); });
}

worker_table copy_for_worker(upstream_table const& table, std::size_t worker)
{
    worker_table made;
    for (server_row const& each : table)
        made.push_back(
            {std::make_unique<server_addresses>(each.addresses), each.weight, each.state,
             each.is_backup, each.counts ? &(*each.counts)[worker] : nullptr});
    return made;
}

} // namespace cleat::app
