// upstream_servers: the servers of an upstream, as one worker knows them.

#pragma once

#include "counts/worker_counts.hpp"
#include "log/log.hpp"
#include "upstream/balancer.hpp"
#include "upstream/family_memory.hpp"
#include "upstream/source_addresses.hpp"
#include "upstream/upstream_plan.hpp"
#include "upstream/upstream_table.hpp"
#include "upstream_tls/upstream_tls.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

/// upstream_servers is what a new connection to a server needs: of one worker and one
/// configuration. The plan and the context outlive it.
class upstream_servers
{
public:
    /// `counts`: the worker's; null: nothing is counted. The context is null unless the plan has
    /// TLS.
    upstream_servers(
        net::worker& worker, upstream_plan const& plan, logger const& log, worker_counts* counts,
        tls::context const* context);
    upstream_servers(upstream_servers&&) = delete;

    [[nodiscard]] upstream_plan const& plan() const noexcept { return plan_; }
    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }
    [[nodiscard]] balancer& servers() noexcept { return servers_; }

    /// tls is null where the servers do not speak TLS.
    [[nodiscard]] upstream_tls* tls() noexcept { return tls_ ? &*tls_ : nullptr; }

    /// addresses are a server's in force: hold them before the next wait.
    [[nodiscard]] server_addresses& addresses(std::size_t server) noexcept
    {
        return *addresses_[server];
    }

    /// family is of a server that has addresses of both.
    [[nodiscard]] family_memory& family(std::size_t server) noexcept { return families_[server]; }

    /// sources are where the connections come from.
    [[nodiscard]] source_addresses& sources() noexcept { return sources_; }

    /// log and counts are the worker's; without counts nothing is counted.
    [[nodiscard]] logger const& log() const noexcept { return log_; }
    [[nodiscard]] worker_counts* counts() noexcept { return worker_counts_; }

    /// count adds one to a number of a server.
    void count(std::size_t server, server_count what) noexcept
    {
        if (counts_[server] != nullptr)
            counts_[server]->add(what);
    }

protected:
    ~upstream_servers() = default;

    /// take takes a row of a table, and leaves the addresses before in its place. True: the
    /// server's addresses are others now.
    bool take(std::size_t server, worker_server& row) noexcept;

private:
    net::worker& worker_;
    upstream_plan const& plan_;
    logger log_;
    balancer servers_;
    std::vector<std::unique_ptr<server_addresses>> addresses_; // By server, as is:
    std::vector<family_memory> families_;
    std::vector<server_counts*> counts_;
    source_addresses sources_;
    worker_counts* worker_counts_;
    std::optional<upstream_tls> tls_;
};

} // namespace cleat::app
