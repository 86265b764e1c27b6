// worker_connections: how many connections a worker has, and how they ended.

#pragma once

#include "close_reason.hpp"
#include "counters.hpp"

#include <cleat/net/worker.hpp>

#include <cstddef>

namespace cleat::app {

/// worker_connections belongs to its worker's thread, and lives as long as the worker.
class worker_connections
{
public:
    using close_counters = counters<close_reason, close_reason_count>;

    explicit worker_connections(net::worker& worker) noexcept : worker_{worker} {}
    worker_connections(worker_connections&&) = delete;
    ~worker_connections() = default;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }

    /// on_open, on_close keep count of the connections.
    void on_open() noexcept { ++open_; }
    void on_close(close_reason why) noexcept;

    [[nodiscard]] std::size_t open() const noexcept { return open_; }

    /// closed counts how connections ended. Any thread may read it.
    [[nodiscard]] close_counters const& closed() const noexcept { return closed_; }

    /// stop_after_last stops the worker when no connection is left, at once if none is.
    void stop_after_last() noexcept;

private:
    net::worker& worker_;
    std::size_t open_ = 0;
    bool draining_ = false;
    close_counters closed_;
};

} // namespace cleat::app
