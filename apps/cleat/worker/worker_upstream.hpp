// worker_upstream: an upstream, as one worker uses it.

#pragma once

#include "upstream/connect_queue.hpp"
#include "upstream/upstream_servers.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

class ready_connections;

/// server_line is where a worker's connections wait for a server that has as many as it may have.
/// Configurations that follow each other share it, as they do server_load.
struct server_line
{
    explicit server_line(net::worker& worker) : queue{worker} {}

    /// try_again: there may be room for one more.
    void try_again() noexcept;

    /// on_use: a connection of some configuration counts as the server's from now on. Where it is
    /// not the newest one, connections that are ready may have to end.
    void on_use(ready_connections const* own) noexcept;

    connect_queue queue;
    ready_connections* ready = nullptr; ///< Those of the newest configuration; or null.
};

/// worker_upstream is the servers of an upstream, and the connections that wait for one or are
/// ready. It outlives the choices made from it.
class worker_upstream : public upstream_servers
{
public:
    /// See upstream_servers.
    worker_upstream(
        net::worker& worker, upstream_plan const& plan, logger const& log,
        worker_counts* counts = nullptr, tls::context const* context = nullptr);
    worker_upstream(worker_upstream&&) = delete;
    ~worker_upstream();

    /// follow takes a table of the plan's servers, and leaves what it had in its place. Connections
    /// keep the addresses that they try.
    void follow(worker_table& table) noexcept;

    /// go_on_from the same upstream in the configuration before: servers of the same name, and
    /// targets of a service at the same address, keep their connections, and those that wait.
    void go_on_from(worker_upstream& before) noexcept;

    /// line is that of a server.
    [[nodiscard]] server_line& line(std::size_t server) noexcept { return *lines_[server]; }

    /// queue is where connections wait for a server, at a UNIX socket, whose backlog is full.
    [[nodiscard]] connect_queue& queue(std::size_t server) noexcept { return queues_[server]; }

    /// ports is where connections wait that found no free local port to any server.
    [[nodiscard]] connect_queue& ports() noexcept { return ports_; }

    /// ready are the connections that are made before clients need them; null: the plan wants none.
    [[nodiscard]] ready_connections* ready() noexcept { return ready_.get(); }

    /// end_ready ends them, and makes no more: before the end of the configuration.
    void end_ready() noexcept;

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
    [[nodiscard]] std::optional<std::size_t> find_in(
        worker_upstream& before, std::size_t server) const noexcept;

    std::vector<std::shared_ptr<server_line>> lines_; // By server, as is:
    std::deque<connect_queue> queues_;
    connect_queue ports_;
    std::optional<net::worker::clock::time_point> ports_logged_; // When ports were used up.
    std::unique_ptr<ready_connections> ready_;                   // The last: it uses the servers.
};

} // namespace cleat::app
