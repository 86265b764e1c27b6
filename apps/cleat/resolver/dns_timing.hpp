// dns_timing: when a name is looked up again. Pure.

#pragma once

#include "resolver/dns_values.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace cleat::app {

/// dns_times bounds the time between two lookups of a name.
struct dns_times
{
    std::chrono::seconds floor{1};
    std::chrono::seconds ceiling{3600};

    friend bool operator==(dns_times const&, dns_times const&) = default;
};

/// watched_name is a name to look up again, and when.
struct watched_name
{
    dns_question question;
    dns_times times;
    std::vector<dns_target> known{}; ///< The answer of an earlier lookup.
};

/// file_interval: how often /etc/hosts is read, which has no TTL.
inline constexpr std::chrono::seconds file_interval{5};

/// next_lookup is the time until the next one after an answer: its TTL, within the bounds. An
/// answer from a cache may have 0 seconds left: it counts as the floor.
[[nodiscard]] inline std::chrono::seconds next_lookup(
    dns_answer const& answer, dns_times const& times) noexcept
{
    std::chrono::seconds const ttl = answer.is_from_file ? file_interval : answer.ttl;
    return std::clamp(ttl, times.floor, times.ceiling);
}

/// next_attempt is the time until the next lookup after so many failures in a row, from 1 on: it
/// doubles from the floor on, to half a minute, or to the ceiling where that is less.
[[nodiscard]] inline std::chrono::seconds next_attempt(
    unsigned failures, dns_times const& times) noexcept
{
    constexpr std::chrono::seconds longest{30};
    std::chrono::seconds const most = std::max(std::min(longest, times.ceiling), times.floor);
    unsigned const doublings = std::min(failures, 16U) - 1;
    return std::min(times.floor * (1U << doublings), most);
}

} // namespace cleat::app
