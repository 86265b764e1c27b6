#include "upstream/upstream_table.hpp"

#include <algorithm>
#include <cstddef>
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

bool have_common(
    std::vector<net::address> const& some, std::vector<net::address> const& others) noexcept
{
    return std::ranges::any_of(some, [&](net::address const& one) {
        return std::ranges::any_of(
            others, [&](net::address const& other) { return are_same(one, other); });
    });
}

std::vector<net::address> by_turns(std::vector<net::address> all)
{
    if (all.empty())
        return all;
    int const first = all.front().family();
    auto const is_of_first = [=](net::address const& each) { return each.family() == first; };
    auto const middle = std::ranges::stable_partition(all, is_of_first).begin();
    std::vector<net::address> mixed;
    mixed.reserve(all.size());
    auto one = all.begin();
    auto other = middle;
    while (one != middle || other != all.end()) {
        if (one != middle)
            mixed.push_back(*one++);
        if (other != all.end())
            mixed.push_back(*other++);
    }
    return mixed;
}

server_addresses::server_addresses(std::vector<net::address> all) : all_{by_turns(std::move(all))}
{
    auto const of_second = static_cast<std::size_t>(std::ranges::count_if(
        all_, [this](net::address const& each) { return is_of_second(each); }));
    in_pairs_ = 2 * std::min(of_second, all_.size() - of_second);
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
