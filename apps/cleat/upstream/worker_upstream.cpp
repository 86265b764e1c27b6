#include "limits/limit_shares.hpp"
#include "preconnect/ready_connections.hpp"
#include "upstream/worker_upstream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace cleat::app {

namespace {

bool has_common(
    std::vector<net::address> const& some, std::vector<net::address> const& others) noexcept
{
    return std::ranges::any_of(some, [&](net::address const& one) {
        return std::ranges::any_of(
            others, [&](net::address const& other) { return are_same(one, other); });
    });
}

} // namespace

worker_upstream::worker_upstream(
    net::worker& worker, upstream_plan const& plan, logger const& log, worker_counts* counts,
    tls::context const* context)
    : worker_{worker}
    , plan_{plan}
    , log_{log}
    , servers_{plan}
    , families_(plan.servers.size())
    , ports_{worker}
    , sources_{plan.sources, worker.number()}
    , worker_counts_{counts}
{
    for (server_plan const& each : plan.servers) {
        addresses_.push_back(std::make_unique<server_addresses>(each.addresses));
        counts_.push_back(nullptr);
        auto const all = static_cast<std::uint32_t>(each.connections_max); // 10 million at most.
        servers_.limit(queues_.size(), exact_share(all, worker.number(), plan.workers));
        lines_.emplace_back(worker);
        queues_.emplace_back(worker);
    }
    if (context != nullptr)
        tls_.emplace(*plan.tls, *context, plan.servers.size());
    if (plan.preconnect.connections != 0)
        ready_ = std::make_unique<ready_connections>(*this);
}

worker_upstream::~worker_upstream() = default;

void worker_upstream::follow(worker_table& table) noexcept
{
    for (std::size_t i = 0; i < table.size(); ++i) {
        worker_server& next = table[i];
        servers_.change(worker_.now(), i, next.weight, next.state);
        servers_.set_backup(i, next.is_backup);
        counts_[i] = next.counts;
        if (are_same(next.addresses->all(), addresses_[i]->all()))
            continue;
        if (!has_common(next.addresses->all(), addresses_[i]->all())) {
            // Another machine: what the old one did says nothing of it.
            servers_.of_server(i).forget();
            servers_.returned(worker_.now(), i);
        }
        if (ready_)
            ready_->drop(i);
        std::swap(addresses_[i], next.addresses);
        server_addresses::replace(std::move(next.addresses));
    }
    if (ready_)
        ready_->look();
}

void worker_upstream::end_ready() noexcept
{
    if (ready_)
        ready_->end();
}

void worker_upstream::ports_used_up(std::size_t server)
{
    if (worker_counts_ != nullptr)
        worker_counts_->traffic.add(traffic_count::ports_used_up);
    net::worker::clock::time_point const now = worker_.now();
    if (ports_logged_ && now < *ports_logged_ + std::chrono::minutes{1})
        return;
    ports_logged_ = now;
    log_.warning("local-ports-used-up")
        .add("upstream", plan_.name)
        .add("server", plan_.servers[server].name)
        .add("cure", "name more addresses of this machine in upstream-source");
}

void worker_upstream::awaits_port() noexcept
{
    if (worker_counts_ != nullptr)
        worker_counts_->traffic.add(traffic_count::ports_awaited);
}

void worker_upstream::server_failed(std::size_t server, bool tries)
{
    count(server, server_count::failed);
    ejection& health = servers_.of_server(server);
    if (!health.failed(worker_.now(), servers_.rule(), tries) || plan_.servers.size() == 1)
        return;
    if (ready_)
        ready_->look();
    log_.warning("server-ejected")
        .add("upstream", plan_.name)
        .add("server", plan_.servers[server].name)
        .add("failures", health.failures())
        .add("tried_again_in_ms", plan_.eject_time.count());
}

void worker_upstream::server_answered(std::size_t server)
{
    if (!servers_.of_server(server).succeeded())
        return;
    servers_.returned(worker_.now(), server);
    if (ready_)
        ready_->look();
    if (plan_.servers.size() > 1)
        log_.info("server-returned")
            .add("upstream", plan_.name)
            .add("server", plan_.servers[server].name);
}

} // namespace cleat::app
