// worker_upstream: an upstream, as one worker uses it.

#pragma once

#include "connect_queue.hpp"
#include "log/log.hpp"
#include "upstream/balancer.hpp"
#include "upstream/family_memory.hpp"
#include "upstream/source_addresses.hpp"
#include "upstream/upstream_plan.hpp"
#include "upstream/upstream_table.hpp"
#include "upstream_tls/upstream_tls.hpp"
#include "worker_counts.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

class ready_connections;

/// worker_upstream belongs to one worker and one configuration. It outlives the choices made from
/// it. The plan outlives it.
class worker_upstream
{
public:
    /// `counts`: the worker's; null: nothing is counted. The context is null unless the plan has
    /// TLS, and outlives the object.
    worker_upstream(
        net::worker& worker, upstream_plan const& plan, logger const& log,
        worker_counts* counts = nullptr, tls::context const* context = nullptr);
    worker_upstream(worker_upstream&&) = delete;
    ~worker_upstream();

    [[nodiscard]] upstream_plan const& plan() const noexcept { return plan_; }
    [[nodiscard]] balancer& servers() noexcept { return servers_; }
    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }

    /// tls is null where the servers do not speak TLS.
    [[nodiscard]] upstream_tls* tls() noexcept { return tls_ ? &*tls_ : nullptr; }

    /// follow takes a table of the plan's servers, and leaves what it had in its place. Connections
    /// keep the addresses that they try.
    void follow(worker_table& table) noexcept;

    /// addresses are a server's in force: hold them before the next wait.
    [[nodiscard]] server_addresses& addresses(std::size_t server) noexcept
    {
        return *addresses_[server];
    }

    /// family is of a server that has addresses of both.
    [[nodiscard]] family_memory& family(std::size_t server) noexcept { return families_[server]; }

    /// log and counts are the worker's; without counts nothing is counted.
    [[nodiscard]] logger const& log() const noexcept { return log_; }
    [[nodiscard]] worker_counts* counts() noexcept { return worker_counts_; }

    /// count adds one to a number of a server.
    void count(std::size_t server, server_count what) noexcept
    {
        if (counts_[server] != nullptr)
            counts_[server]->add(what);
    }

    /// line is where connections wait for a server that has as many as it may have.
    [[nodiscard]] connect_queue& line(std::size_t server) noexcept { return lines_[server]; }

    /// queue is where connections wait for a server, at a UNIX socket, whose backlog is full.
    [[nodiscard]] connect_queue& queue(std::size_t server) noexcept { return queues_[server]; }

    /// ports is where connections wait that found no free local port to any server.
    [[nodiscard]] connect_queue& ports() noexcept { return ports_; }

    /// ready are the connections that are made before clients need them; null: the plan wants none.
    [[nodiscard]] ready_connections* ready() noexcept { return ready_.get(); }

    /// end_ready ends them, and makes no more: before the end of the configuration.
    void end_ready() noexcept;

    /// sources are where the connections come from.
    [[nodiscard]] source_addresses& sources() noexcept { return sources_; }

    /// ports_used_up counts a connect that found no free local port, at any source. The log has
    /// the first one in a minute.
    void ports_used_up(std::size_t server);

    /// awaits_port counts a connection that waits in `ports`.
    void awaits_port() noexcept;

    /// server_failed and server_answered say how a connect to a server has ended. `tries`: it was
    /// the connection that tries whether the server is back. The log has a line when a server is
    /// left out, and when it is back.
    void server_failed(std::size_t server, bool tries);
    void server_answered(std::size_t server);

private:
    net::worker& worker_;
    upstream_plan const& plan_;
    logger log_;
    balancer servers_;
    std::vector<std::unique_ptr<server_addresses>> addresses_; // By server, as is:
    std::vector<family_memory> families_;
    std::vector<server_counts*> counts_;
    std::deque<connect_queue> lines_;
    std::deque<connect_queue> queues_;
    connect_queue ports_;
    source_addresses sources_;
    worker_counts* worker_counts_;
    std::optional<net::worker::clock::time_point> ports_logged_; // When ports were used up.
    std::optional<upstream_tls> tls_;
    std::unique_ptr<ready_connections> ready_; // The last: it uses all others.
};

} // namespace cleat::app
