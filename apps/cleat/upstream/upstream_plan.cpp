#include "config/values.hpp"
#include "upstream/upstream_plan.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace cleat::app {
namespace {

std::string server_text(server_plan const& server)
{
    std::vector<std::string> facts;
    if (server.weight != 1)
        facts.push_back(fmt::format("weight {}", server.weight));
    if (server.is_backup)
        facts.emplace_back("backup");
    if (server.connections_max != 0)
        facts.push_back(fmt::format("max {}", server.connections_max));
    return facts.empty() ? server.name
                         : fmt::format("{} ({})", server.name, fmt::join(facts, ", "));
}

// The servers with what the configuration says of them: DNS has other places for a service, and
// weights of its own.
std::vector<server_plan> configured_servers(upstream_plan const& upstream)
{
    std::vector<server_plan> found = upstream.servers;
    for (planned_name const& each : upstream.names)
        if (each.targets.size() > 1) {
            found[each.server].weight = each.weight;
            found[each.server].is_backup = each.is_backup;
        }
    std::erase_if(found, [](server_plan const& server) { return server.is_place; });
    return found;
}

bool has_same_settings(server_plan const& one, server_plan const& other)
{
    auto const fields = [](server_plan const& server) {
        return std::tie(
            server.name, server.weight, server.is_backup, server.connections_max, server.tls_name);
    };
    return fields(one) == fields(other);
}

bool has_same_tls(
    std::optional<upstream_tls_plan> const& one, std::optional<upstream_tls_plan> const& other)
{
    if (!one || !other)
        return one.has_value() == other.has_value();
    return one->offers_clients_protocol == other->offers_clients_protocol &&
           one->proxy_header == other->proxy_header && is_same_policy(one->spec, other->spec);
}

} // namespace

std::string describe(upstream_plan const& upstream)
{
    std::vector<std::string> servers;
    for (server_plan const& each : upstream.servers)
        if (!each.is_place)
            servers.push_back(server_text(each));
    if (servers.size() == 1 && upstream.servers.front().name == upstream.name)
        return upstream.name + (upstream.tls ? ", TLS" : ""); // The backend.
    return fmt::format(
        "{}, {}{}: {}", upstream.name, to_string(upstream.strategy), upstream.tls ? ", TLS" : "",
        fmt::join(servers, ", "));
}

bool is_configured_alike(upstream_plan const& one, upstream_plan const& other)
{
    auto const fields = [](upstream_plan const& upstream) {
        return std::tie(
            upstream.strategy, upstream.eject_after, upstream.eject_time, upstream.slow_start,
            upstream.check, upstream.preconnect.connections, upstream.preconnect.time);
    };
    return fields(one) == fields(other) && has_same_tls(one.tls, other.tls) &&
           std::ranges::equal(one.sources, other.sources, {}, net::to_string, net::to_string) &&
           std::ranges::equal(
               configured_servers(one), configured_servers(other), has_same_settings);
}

} // namespace cleat::app
