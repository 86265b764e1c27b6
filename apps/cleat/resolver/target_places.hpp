// target_places: which server of an upstream stands for which target of a service. Pure.

#pragma once

#include "resolver/dns_values.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::app {

/// placed_target is a place in use: the server of an upstream that stands for the target.
struct placed_target
{
    std::string upstream;
    std::string server;
    std::string target;
};

/// place_targets gives each target a place: the one that it has already, by its name in `present`,
/// or one that is free or whose target is gone. The result is by place; null: no target. Targets
/// beyond the places are left out.
[[nodiscard]] std::vector<dns_target const*> place_targets(
    std::vector<std::string> const& present, std::vector<dns_target> const& targets);

} // namespace cleat::app
