#include "config/values.hpp"
#include "upstream/upstream_plan.hpp"

#include <fmt/format.h>

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

} // namespace cleat::app
