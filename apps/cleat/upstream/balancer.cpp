#include "upstream/balancer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

// FNV-1a.
std::uint64_t hash_bytes(std::string_view bytes) noexcept
{
    std::uint64_t sum = 14695981039346656037ULL;
    for (char const c : bytes)
        sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return sum;
}

// The finalizer of SplitMix64: each bit of the result depends on every bit.
std::uint64_t mix(std::uint64_t value) noexcept
{
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31U);
}

// Between 0 and 1, both excluded.
double fraction(std::uint64_t bits) noexcept
{
    return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

} // namespace

std::uint64_t client_key(std::span<std::uint8_t const> address) noexcept
{
    return address.empty()
               ? 0
               : hash_bytes({reinterpret_cast<char const*>(address.data()), address.size()});
}

balancer::balancer(upstream_plan const& plan)
    : strategy_{plan.strategy}
    , rule_{plan.eject_after, plan.eject_time}
    , slow_start_{plan.slow_start}
{
    for (server_plan const& each : plan.servers) {
        if (each.is_place && each.addresses.empty())
            drained_.insert(servers_.size());
        servers_.push_back(
            {.weight = each.weight,
             .shares = each.weight * shares_of_weight,
             .is_backup = each.is_backup,
             .name = hash_bytes(each.name)});
    }
    candidates_.reserve(servers_.size());
}

std::optional<std::size_t> balancer::choose(
    time_point now, std::uint64_t client, server_set const& tried)
{
    if (servers_.size() == 1)
        return left(tried) == 0 ? std::nullopt : std::optional<std::size_t>{0};
    if (!rising_.empty())
        raise(now);
    find_candidates(now, tried);
    if (candidates_.empty())
        return {};
    leave_out_full();
    switch (strategy_) {
    case balance::first:
        return candidates_.front();
    case balance::round_robin:
        return by_turns();
    case balance::least_connections:
        keep_fewest_connections();
        return by_turns();
    case balance::client_hash:
        return by_client(client);
    }
    return candidates_.front();
}

void balancer::change(
    time_point now, std::size_t server, unsigned weight, server_state state) noexcept
{
    balanced_server& one = servers_[server];
    server_state const before = std::exchange(one.load->state, state);
    one.weight = weight;
    one.shares = weight * shares_of_weight;
    if (state == server_state::serving && before == server_state::down)
        one.health.forget();
    if (state == server_state::serving && before != server_state::serving)
        returned(now, server);
    raise(now);
    if (state == server_state::drained)
        drained_.insert(server);
    else
        drained_.erase(server);
}

void balancer::returned(time_point now, std::size_t server) noexcept
{
    if (slow_start_.count() == 0)
        return;
    servers_[server].rises_since = now;
    rising_.insert(server);
}

void balancer::raise(time_point now) noexcept
{
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (!rising_.contains(i))
            continue;
        balanced_server& one = servers_[i];
        std::int64_t const all = one.weight * shares_of_weight;
        auto const since =
            std::chrono::duration_cast<std::chrono::milliseconds>(now - one.rises_since);
        std::chrono::milliseconds const risen = std::min(since, slow_start_);
        if (risen >= slow_start_)
            rising_.erase(i);
        one.shares = std::clamp<std::int64_t>(all * risen / slow_start_, 1, all);
    }
}

// Lower is better.
unsigned balancer::rank_of(balanced_server const& one, time_point now) const noexcept
{
    unsigned const in_service = one.health.serves(now) ? 0U : 2U;
    return (one.load->state == server_state::down ? 4U : in_service) + (one.is_backup ? 1U : 0U);
}

// Those of the best rank that there is.
void balancer::find_candidates(time_point now, server_set const& tried)
{
    candidates_.clear();
    unsigned best = std::numeric_limits<unsigned>::max();
    server_set const excluded = tried.joined(drained_);
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (excluded.contains(i))
            continue;
        unsigned const rank = rank_of(servers_[i], now);
        if (rank > best)
            continue;
        if (rank < best)
            candidates_.clear();
        best = rank;
        candidates_.push_back(i);
    }
}

// Unless all are full.
void balancer::leave_out_full()
{
    auto const has_room = [this](std::size_t each) { return !is_full(each); };
    if (std::ranges::any_of(candidates_, has_room))
        std::erase_if(candidates_, std::not_fn(has_room));
}

// Each server's turn grows by its weight; the one that is chosen gives back the sum.
std::size_t balancer::by_turns() noexcept
{
    std::int64_t sum = 0;
    std::size_t chosen = candidates_.front();
    for (std::size_t const each : candidates_) {
        balanced_server& one = servers_[each];
        one.turn += one.shares;
        sum += one.shares;
        if (one.turn > servers_[chosen].turn)
            chosen = each;
    }
    servers_[chosen].turn -= sum;
    return chosen;
}

void balancer::keep_fewest_connections()
{
    // Connections for each unit of weight, compared without a division.
    auto const is_less = [this](std::size_t one, std::size_t other) {
        return load(one).connections * servers_[other].shares <
               load(other).connections * servers_[one].shares;
    };
    std::size_t const fewest = *std::ranges::min_element(candidates_, is_less);
    std::erase_if(candidates_, [&](std::size_t each) { return is_less(fewest, each); });
}

// The highest of -weight / ln(u), where u is a random fraction that the client and the server have
// in common, wins with the probability of the weight.
std::size_t balancer::by_client(std::uint64_t client) const noexcept
{
    auto const score = [&](std::size_t each) {
        balanced_server const& one = servers_[each];
        return -static_cast<double>(one.shares) / std::log(fraction(mix(client ^ mix(one.name))));
    };
    return *std::ranges::max_element(candidates_, {}, score);
}

} // namespace cleat::app
