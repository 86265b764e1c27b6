// terminator_worker: the terminator on one worker: its listening sockets, the configuration that
// new connections get, and those that older connections still have.

#pragma once

#include "serve/listener.hpp"
#include "snapshot/listening_place.hpp"
#include "worker/worker_connections.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/unique_fd.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace cleat::app {

/// worker_part is a configuration for one worker, made by any thread.
struct worker_part
{
    std::list<std::unique_ptr<worker_service>> service; ///< One: the worker allocates no node.
    std::vector<listening_place> places;
    std::vector<unique_fd> sockets; ///< By place; empty where the place is kept.
    std::vector<std::unique_ptr<listener>>
        listeners;                         ///< Of the places' size. The worker makes them.
    std::vector<worker_table> upstreams{}; ///< By upstream; empty: those of the plans.
};

/// terminator_worker belongs to its worker's thread, where it is made and destroyed.
class terminator_worker
{
public:
    /// Called with a service that was replaced, and whose last connection has ended. Must not
    /// throw.
    using on_released = std::function<void(std::unique_ptr<worker_service>)>;

    /// Accepts from now on. No place is kept.
    terminator_worker(worker_connections& connections, worker_part first, on_released released);
    terminator_worker(terminator_worker&&) = delete;
    ~terminator_worker();

    /// replace gives later connections to another configuration. A listening place that this keeps
    /// goes on without a pause. For a place that the new configuration lacks, queued connections
    /// are accepted with the old configuration; then the socket is closed. Without memory for a new
    /// listener this worker logs that, and leaves the place to the other workers.
    void replace(worker_part next) noexcept;

    /// follow takes a table for an upstream of the newest configuration. A table for another
    /// configuration is ignored: the newest one came with a later table.
    void follow(snapshot const& configuration, std::size_t upstream, worker_table& table) noexcept;

    /// drain takes the connections that the kernel has queued, closes the listening sockets, and
    /// stops the worker once its last connection has ended.
    void drain() noexcept;

    /// drop_past_tickets forgets the ticket keys of epochs that are over, for all configurations.
    void drop_past_tickets() noexcept;

    /// publish_queues counts the connections that wait to be accepted, and the handshakes that wait
    /// in line: see worker_counts.
    void publish_queues() noexcept;

private:
    void release(worker_service& free);

    worker_connections& connections_;
    on_released released_;
    std::list<std::unique_ptr<worker_service>> services_; // The newest first: it gets connections.
    std::vector<std::unique_ptr<listener>> listeners_;    // By place.
    bool draining_ = false;
};

} // namespace cleat::app
