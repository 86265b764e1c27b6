// worker_service: what one worker has for each of its connections: the configuration, the log, the
// counters, the certificates, and the queue for an upstream that has no room.

#pragma once

#include "close_reason.hpp"
#include "connect_queue.hpp"
#include "counters.hpp"
#include "log/log.hpp"
#include "snapshot.hpp"
#include "worker_certificates.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>
#include <memory>

namespace cleat::app {

/// worker_service belongs to its worker's thread, and outlives the worker's connections.
class worker_service
{
public:
    using close_counters = counters<close_reason, close_reason_count>;

    /// supply loads the certificates of the configuration's store; null where it has none.
    worker_service(
        net::worker& worker, snapshot const& configuration, logger log,
        tls::certificate_supply* supply = nullptr);
    worker_service(worker_service&&) = delete;
    ~worker_service() = default;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }
    [[nodiscard]] snapshot const& configuration() const noexcept { return configuration_; }
    [[nodiscard]] logger const& log() const noexcept { return log_; }

    /// upstream_queue is where connections wait for an upstream that has no room.
    [[nodiscard]] connect_queue& upstream_queue() noexcept { return upstream_queue_; }

    /// certificates are those of the store, or null where the configuration has none.
    [[nodiscard]] worker_certificates* certificates() noexcept { return certificates_.get(); }

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
    std::unique_ptr<worker_certificates> certificates_;
    std::size_t connections_ = 0;
    bool draining_ = false;
    close_counters closed_;
};

} // namespace cleat::app
