// upstream_index: finds what a configuration says about an upstream, by its name.

#pragma once

#include "config/config.hpp"

#include <set>
#include <string_view>
#include <unordered_map>

namespace cleat::app {

/// upstream_index answers in constant time: thousands of routes may name thousands of upstreams.
/// The settings outlive it, and do not change.
class upstream_index
{
public:
    explicit upstream_index(config const& settings);

    [[nodiscard]] config const& settings() const noexcept { return settings_; }

    /// find is the upstream block with this name, or null. Of several it is the first.
    [[nodiscard]] upstream_config const* find(std::string_view name) const;

    /// sends_header: some clients of the upstream are announced to it: those of a frontend whose
    /// clients go there without a route, or of a route to it.
    [[nodiscard]] bool sends_header(std::string_view upstream) const;

    /// announcement_of_checks is the way in which checks of an upstream's servers are announced:
    /// that of its clients, or where they have several, that of the settings for all.
    [[nodiscard]] announcement announcement_of_checks(std::string_view upstream) const;

private:
    using announcements = std::set<announcement>;

    [[nodiscard]] announcements const& announcements_to(std::string_view upstream) const;

    config const& settings_;
    std::unordered_map<std::string_view, upstream_config const*> blocks_;
    std::unordered_map<std::string_view, announcements> ways_; // Of clients, by upstream.
};

} // namespace cleat::app
