#include "limits/limit_shares.hpp"
#include "upstream/upstream_servers.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cleat::app {

upstream_servers::upstream_servers(
    net::worker& worker, upstream_plan const& plan, logger const& log, worker_counts* counts,
    tls::context const* context)
    : worker_{worker}
    , plan_{plan}
    , log_{log}
    , servers_{plan}
    , families_(plan.servers.size())
    , counts_(plan.servers.size())
    , sources_{plan.sources, worker.number(), slice_of(plan.ports, worker.number(), plan.workers)}
    , worker_counts_{counts}
{
    for (server_plan const& each : plan.servers) {
        auto const all = static_cast<std::uint32_t>(each.connections_max); // 10 million at most.
        servers_.limit(addresses_.size(), exact_share(all, worker.number(), plan.workers));
        addresses_.push_back(std::make_unique<server_addresses>(each.addresses));
    }
    if (context != nullptr)
        tls_.emplace(*plan.tls, *context, plan.servers.size());
}

bool upstream_servers::take(std::size_t server, worker_server& row) noexcept
{
    servers_.change(worker_.now(), server, row.weight, row.state);
    servers_.set_backup(server, row.is_backup);
    counts_[server] = row.counts;
    std::unique_ptr<server_addresses>& mine = addresses_[server];
    if (are_same(row.addresses->all(), mine->all()))
        return false;
    if (!have_common(row.addresses->all(), mine->all())) {
        // Another machine: failures of the old one say nothing about it.
        servers_.ejection_of(server).forget();
        servers_.returned(worker_.now(), server);
    }
    std::swap(mine, row.addresses);
    server_addresses::replace(std::move(row.addresses));
    return true;
}

} // namespace cleat::app
