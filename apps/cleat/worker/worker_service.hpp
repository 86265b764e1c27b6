// worker_service: what one worker has for each connection of one configuration: the settings, the
// TLS contexts and certificates, the log, and the upstreams.

#pragma once

#include "access/access_log.hpp"
#include "limits/client_scope.hpp"
#include "limits/client_table.hpp"
#include "log/log.hpp"
#include "snapshot/listening_place.hpp"
#include "snapshot/snapshot.hpp"
#include "worker/frontend_socket.hpp"
#include "worker/handshake_sources.hpp"
#include "worker/worker_connections.hpp"
#include "worker/worker_upstream.hpp"

#include <cleat/net/worker.hpp>
#include <cleat/net/worker_certificates.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cleat::app {

/// worker_contexts is a worker's TLS contexts for one configuration, by tls_plan.
using worker_contexts = std::deque<tls::context>;

/// Any thread may make a worker_service. From begin on it belongs to its worker's thread. It
/// outlives its connections.
class worker_service : net::task_node
{
public:
    /// The snapshot and `certificates` outlive it. `certificates` loads those of the
    /// configuration's store; null where it has no store. `previous` is the worker's contexts of
    /// the configuration that this one follows. Throws tls::spec_error.
    worker_service(
        net::worker& worker, snapshot const& configuration, logger log,
        std::span<listening_place const> places = {},
        net::worker_certificates* certificates = nullptr, worker_contexts const* previous = nullptr,
        access_stream access = {});
    worker_service(worker_service&&) = delete;
    ~worker_service() = default;

    /// begin: call it once, on the worker's thread, before the first connection. Connections are
    /// then counted here and in `connections`. `previous` is the service of the configuration that
    /// this one follows.
    void begin(worker_connections& connections, worker_service* previous = nullptr);

    /// retire: no connection begins any more. `released` is called once, in a pass of the worker's
    /// loop after the one in which the last connection ends. Any thread may then destroy this
    /// object. Where the worker ends before that, `released` is not called. It must not throw.
    void retire(std::function<void(worker_service&)> released) noexcept;

    /// leave_thread: a thread that has made or used the service calls it before another thread uses
    /// the service. See tls::context::leave_thread.
    void leave_thread() const noexcept;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }
    [[nodiscard]] snapshot const& configuration() const noexcept { return configuration_; }
    [[nodiscard]] logger const& log() const noexcept { return log_; }
    [[nodiscard]] access_stream const& access() const noexcept { return access_; }

    /// frontend is that of a listening_place, by its number.
    [[nodiscard]] frontend_socket& frontend(std::size_t place) noexcept
    {
        return frontends_[place];
    }

    /// policy is that of a tls_plan, by its number.
    [[nodiscard]] tls_policy const& policy(std::size_t number) const noexcept
    {
        return policies_[number];
    }

    /// route_clients is the limits of one client at a route, by the number of the route's limit in
    /// the limit_plan. From begin on.
    [[nodiscard]] client_scope const& route_clients(std::size_t number) const noexcept
    {
        return route_clients_[number];
    }

    /// upstream is one of the snapshot's, by its number. From begin on.
    [[nodiscard]] worker_upstream& upstream(std::size_t number) noexcept
    {
        return upstreams_[number];
    }

    /// follow takes a table for an upstream, by its number: see worker_upstream.
    void follow(std::size_t number, worker_table& table) noexcept
    {
        upstreams_[number].follow(table);
    }

    /// end_ready ends the preconnected connections to upstreams that no client has taken yet, and
    /// makes no more.
    void end_ready() noexcept;

    /// certificates are those of the store, or null where the configuration has none.
    [[nodiscard]] net::worker_certificates* certificates() noexcept { return certificates_; }

    /// sources are the parts of the worker that handshakes use. From begin on.
    [[nodiscard]] handshake_sources sources() const noexcept
    {
        return {connections_->half_open(), certificates_, connections_->sessions()};
    }

    /// contexts may outlive it, and must end before its snapshot and certificates.
    [[nodiscard]] std::shared_ptr<worker_contexts const> contexts() const noexcept
    {
        return contexts_;
    }

    /// on_connection, on_close keep count of the connections, here and where the worker counts.
    void on_connection(frontend_socket const& frontend) noexcept;
    void on_close(frontend_socket const& frontend, close_reason why) noexcept;

    /// connections is where the worker counts all of its connections.
    [[nodiscard]] worker_connections& connections() const noexcept { return *connections_; }

    worker_service* next_released = nullptr; ///< For the main thread's inbox.

private:
    void look_for_release() noexcept;
    void begin_upstreams(worker_service* previous);
    void begin_limits();
    void begin_sessions() noexcept;

    net::worker& worker_;
    snapshot const& configuration_;
    logger log_;
    access_stream access_;
    net::worker_certificates* certificates_;
    std::shared_ptr<worker_contexts> contexts_;
    std::unique_ptr<client_table> clients_; // Until begin, and only where there is a new one.
    std::vector<std::unique_ptr<tls::context const>> upstream_contexts_; // Null: no TLS.
    std::vector<tls_policy> policies_;
    std::deque<frontend_socket> frontends_;
    worker_connections* connections_ = nullptr; // From begin on, as is:
    std::deque<worker_upstream> upstreams_;
    std::vector<client_scope> route_clients_;
    std::size_t open_ = 0;                          // Its own connections.
    std::function<void(worker_service&)> released_; // Set: it is retired.
    bool release_queued_ = false;
};

} // namespace cleat::app
