// worker_service: what one worker has for each of its connections: the configuration, the log, the
// counters, and the queue for an upstream that has no room.

#pragma once

#include "close_reason.hpp"
#include "connect_queue.hpp"
#include "counters.hpp"
#include "log/log.hpp"
#include "snapshot.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>

namespace cleat::app {

/// worker_service belongs to its worker's thread, and outlives the worker's connections.
class worker_service
{
public:
    using close_counters = counters<close_reason, close_reason_count>;

    worker_service(net::worker& worker, snapshot const& configuration, logger log);
    worker_service(worker_service&&) = delete;
    ~worker_service() = default;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }
    [[nodiscard]] snapshot const& configuration() const noexcept { return configuration_; }
    [[nodiscard]] logger const& log() const noexcept { return log_; }

    /// upstream_queue is where connections wait for an upstream that has no room.
    [[nodiscard]] connect_queue& upstream_queue() noexcept { return upstream_queue_; }

    /// on_connection, on_close keep count of the connections.
    void on_connection() noexcept { ++connections_; }
    void on_close(close_reason why) noexcept;

    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

    /// closed counts how connections ended. Any thread may read it.
    [[nodiscard]] close_counters const& closed() const noexcept { return closed_; }

    /// stop_after_last_connection stops the worker when no connection is left, at once if none is.
    void stop_after_last_connection() noexcept;

private:
    net::worker& worker_;
    snapshot const& configuration_;
    logger log_;
    connect_queue upstream_queue_;
    std::size_t connections_ = 0;
    bool draining_ = false;
    close_counters closed_;
};

} // namespace cleat::app
