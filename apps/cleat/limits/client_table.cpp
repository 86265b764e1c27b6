#include "limits/client_table.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>

namespace cleat::app {

client_table::client_table(std::size_t clients, sip_key const& key)
    : key_{key}, sets_(std::max<std::size_t>((clients + own_places - 1) / own_places, 1))
{
}

// The number of the client's place in its set. A free place becomes the client's.
std::size_t client_table::find(set& all, std::uint32_t tag, time_point now) noexcept
{
    std::size_t free = own_places; // The shared place.
    for (std::size_t i = 0; i < own_places; ++i) {
        if (all.entries[i].tag == tag)
            return i;
        if (free == own_places && all.entries[i].is_free(now))
            free = i;
    }
    if (free != own_places)
        all.entries[free] = {.tag = tag};
    return free;
}

client_table::answer client_table::admit(
    client_prefix const& client, client_rules const& rules, time_point now,
    std::uint64_t salt) noexcept
{
    // As a part of the key the salt costs nothing, and no client can find a prefix whose place in
    // one scope is that of another client in a second one.
    std::uint64_t const hash = sip_hash({key_.first ^ salt, key_.second}, client);
    auto const number = static_cast<std::size_t>((hash >> 32) * sets_.size() >> 32);
    std::uint32_t const tag = std::max(static_cast<std::uint32_t>(hash), 1U);
    std::size_t const way = find(sets_[number], tag, now);
    entry& found = sets_[number].entries[way];
    answer made{.is_shared = way == own_places};

    if (rules.connections != 0 && found.connections >= rules.connections) {
        made.verdict = verdict::too_many_connections;
        return made;
    }
    if (rules.token_interval.count() != 0) {
        time_point const full_at = std::max(found.full_at, now);
        if (full_at - now > rules.token_interval * (rules.burst - 1)) {
            made.verdict = verdict::too_many_handshakes;
            return made;
        }
        found.full_at = full_at + rules.token_interval;
    }
    if (rules.connections != 0) {
        ++found.connections;
        made.place.number = static_cast<std::uint32_t>(number * (own_places + 1) + way);
    }
    return made;
}

void client_table::release(place where) noexcept
{
    if (where.number == place::none)
        return;
    entry& found = sets_[where.number / (own_places + 1)].entries[where.number % (own_places + 1)];
    CLEAT_ASSERT(found.connections != 0);
    --found.connections;
}

} // namespace cleat::app
