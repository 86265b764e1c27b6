#include "config/route_settings.hpp"
#include "config/upstream_index.hpp"

#include <algorithm>

namespace cleat::app {

upstream_index::upstream_index(config const& settings) : settings_{settings}
{
    for (upstream_config const& each : settings.upstreams)
        blocks_.try_emplace(*each.name, &each);
    for (frontend_config const& each : settings.frontends) {
        ways_[*effective(each.upstream, settings.upstream)].insert(*settings.announce);
        for (route_config const& route : each.routes)
            ways_[*route.upstream].insert(announcement_rule_of(settings, route).way);
    }
}

upstream_config const* upstream_index::find(std::string_view name) const
{
    auto const found = blocks_.find(name);
    return found == blocks_.end() ? nullptr : found->second;
}

upstream_index::announcements const& upstream_index::announcements_to(
    std::string_view upstream) const
{
    static announcements const none;
    auto const found = ways_.find(upstream);
    return found == ways_.end() ? none : found->second;
}

bool upstream_index::sends_header(std::string_view upstream) const
{
    return std::ranges::any_of(announcements_to(upstream), [](announcement each) {
        return each != announcement::nothing;
    });
}

announcement upstream_index::announcement_of_checks(std::string_view upstream) const
{
    announcements const& ways = announcements_to(upstream);
    return ways.size() == 1 ? *ways.begin() : *settings_.announce;
}

} // namespace cleat::app
