#include "health/upstream_states.hpp"

#include <algorithm>
#include <utility>

namespace cleat::app {
namespace {

template <class Named>
auto* find_by_name(Named& all, std::string_view name) noexcept
{
    auto const found = std::ranges::find(
        all, name, [](auto const& each) -> std::string_view { return each.name; });
    return found == all.end() ? nullptr : &*found;
}

bool is_same_row(server_row const& one, server_row const& other) noexcept
{
    return one.weight == other.weight && one.state == other.state &&
           one.is_backup == other.is_backup && are_same(one.addresses, other.addresses);
}

// The ends are read first: then no connection has ended and not begun.
std::uint64_t difference(
    known_server const& server, server_count begun, server_count ended) noexcept
{
    std::uint64_t const over = server.total(ended);
    std::uint64_t const all = server.total(begun);
    return all - std::min(all, over);
}

// The reload has not found the server's name.
bool is_kept(upstream_plan const& plan, std::size_t server) noexcept
{
    return std::ranges::any_of(plan.names, [&](planned_name const& each) {
        return each.is_kept && server >= each.server && server - each.server < each.targets.size();
    });
}

// The server in the configuration before of which the state goes on. `same_name` is the one of that
// name, or null.
known_server const* find_before(
    known_upstream const& before, server_plan const& plan, known_server const* same_name) noexcept
{
    if (plan.target.empty() || (same_name != nullptr && same_name->target == plan.target))
        return same_name;
    auto const found = std::ranges::find(before.servers, plan.target, &known_server::target);
    return found == before.servers.end() ? same_name : &*found;
}

// A result of the configuration before holds until there is another.
void follow_checks(known_server& server, check_rule const& rule)
{
    if (!rule.is_on) {
        server.is_down = false;
        server.check = {};
    } else if (server.check.state == check_state::none) {
        server.check.state = check_state::unknown;
    }
}

} // namespace

server_row known_server::row() const
{
    server_state const by_checks = is_down ? server_state::down : server_state::serving;
    bool const gets_none = is_drained || addresses.empty();
    return {
        addresses, operators_weight.value_or(weight), gets_none ? server_state::drained : by_checks,
        counts, is_backup};
}

void known_server::place(
    std::string const& next_target, std::vector<net::address> const& next_addresses)
{
    if (target != next_target) {
        operators_weight.reset();
        is_drained = false;
        if (!are_same(addresses, next_addresses)) { // Else the checks repeat nothing.
            is_down = false;
            check = {
                .state =
                    check.state == check_state::none ? check_state::none : check_state::unknown};
        }
    }
    target = next_target;
    addresses = next_addresses;
}

std::string_view to_string(check_state state) noexcept
{
    switch (state) {
    case check_state::none:
        return "none";
    case check_state::unknown:
        return "unknown";
    case check_state::passed:
        return "passed";
    case check_state::failed:
        return "failed";
    }
    return "";
}

std::uint64_t known_server::total(server_count which) const noexcept
{
    return counts ? app::total(*counts, which) : 0;
}

std::uint64_t known_server::open() const noexcept
{
    return difference(*this, server_count::opened, server_count::closed);
}

std::uint64_t known_server::waiting() const noexcept
{
    return difference(*this, server_count::queued, server_count::waited);
}

std::uint64_t known_server::ready() const noexcept
{
    return difference(*this, server_count::ready_begun, server_count::ready_ended);
}

std::vector<known_upstream> upstream_states::following(
    std::vector<upstream_plan> const& upstreams) const
{
    std::vector<known_upstream> all;
    for (upstream_plan const& plan : upstreams) {
        known_upstream const* const known = find_by_name(upstreams_, plan.name);
        known_upstream& made = all.emplace_back(known_upstream{plan.name, plan.check});
        for (server_plan const& each : plan.servers) {
            known_server const* const same_name =
                known == nullptr ? nullptr : find_by_name(known->servers, each.name);
            auto const number = static_cast<std::size_t>(&each - plan.servers.data());
            bool const has_later = same_name != nullptr && is_kept(plan, number);
            known_server const* const old =
                known == nullptr || has_later ? same_name : find_before(*known, each, same_name);
            known_server server = old == nullptr ? known_server{} : *old;
            server.name = each.name;
            server.counts = same_name == nullptr ? nullptr : same_name->counts;
            if (!has_later)
                server.place(each.target, each.addresses);
            server.weight = each.weight;
            server.is_backup = each.is_backup;
            server.tls_name = each.tls_name;
            follow_checks(server, plan.check);
            if (!server.counts)
                server.counts = std::make_shared<counts_by_worker>(workers_);
            made.servers.push_back(std::move(server));
        }
    }
    return all;
}

std::vector<placed_target> upstream_states::targets() const
{
    std::vector<placed_target> found;
    for (known_upstream const& upstream : upstreams_)
        for (known_server const& server : upstream.servers)
            if (!server.target.empty())
                found.push_back({upstream.name, server.name, server.target});
    return found;
}

void upstream_states::follow(std::vector<known_upstream> upstreams) noexcept
{
    ++version_;
    upstreams_ = std::move(upstreams);
}

upstream_table table_of(known_upstream const& upstream)
{
    upstream_table made;
    for (known_server const& each : upstream.servers)
        made.push_back(each.row());
    return made;
}

bool upstream_states::change(
    std::string_view upstream, std::string_view server,
    std::function<void(known_server&)> const& use)
{
    known_upstream* const found = find_by_name(upstreams_, upstream);
    bool is_there = false;
    bool has_changed = false;
    if (found != nullptr)
        for (known_server& each : found->servers)
            if (each.name == server) {
                server_row const before = each.row();
                use(each);
                is_there = true;
                has_changed = has_changed || !is_same_row(before, each.row());
            }
    if (is_there)
        ++version_;
    if (has_changed) {
        auto const number = static_cast<std::size_t>(found - upstreams_.data());
        publish_(number, table_of(upstreams_[number]));
    }
    return is_there;
}

std::vector<std::shared_ptr<counts_by_worker>> counts_of(
    std::vector<known_upstream> const& upstreams)
{
    std::vector<std::shared_ptr<counts_by_worker>> found;
    for (known_upstream const& upstream : upstreams)
        for (known_server const& server : upstream.servers)
            found.push_back(server.counts);
    return found;
}

bool upstream_states::set_addresses(
    std::string_view upstream, std::string_view server, std::vector<net::address> const& addresses)
{
    return change(upstream, server, [&](known_server& each) { each.addresses = addresses; });
}

} // namespace cleat::app
