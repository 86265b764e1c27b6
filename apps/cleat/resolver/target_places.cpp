#include "resolver/target_places.hpp"

#include <algorithm>

namespace cleat::app {

std::vector<dns_target const*> place_targets(
    std::vector<std::string> const& present, std::vector<dns_target> const& targets)
{
    std::vector<dns_target const*> placed(present.size());
    std::vector<dns_target const*> others;
    for (dns_target const& each : targets) {
        auto const found = std::ranges::find(present, each.name);
        auto const place = static_cast<std::size_t>(found - present.begin());
        if (found != present.end() && placed[place] == nullptr)
            placed[place] = &each;
        else
            others.push_back(&each);
    }
    for (dns_target const* const each : others) {
        auto const free = std::ranges::find(placed, nullptr);
        if (free == placed.end())
            break;
        *free = each;
    }
    return placed;
}

} // namespace cleat::app
