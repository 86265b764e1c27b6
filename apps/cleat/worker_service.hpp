// worker_service: what one worker has for the terminator: its TLS contexts, listening sockets,
// counters and log.

#pragma once

#include "close_reason.hpp"
#include "connect_queue.hpp"
#include "counters.hpp"
#include "log/log.hpp"
#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// listening is a bound socket that a worker will accept from, and whose plan it belongs to.
struct listening
{
    unique_fd socket;
    listener_plan const* plan = nullptr;
};

/// worker_service serves on its worker's thread. It is made on that thread too, since contexts are.
class worker_service
{
public:
    using close_counters = counters<close_reason, close_reason_count>;

    /// Throws tls::spec_error or std::system_error when it cannot be had.
    worker_service(net::worker& on, snapshot const& use, std::vector<listening> from, logger log);
    worker_service(worker_service&&) = delete;
    ~worker_service();

    /// start begins to accept.
    void start();

    /// drain stops accepting and stops the worker once its last connection has ended.
    void drain() noexcept;

    [[nodiscard]] net::worker& worker() const noexcept { return on_; }
    /// current is the configuration that its connections are served with.
    [[nodiscard]] snapshot const& current() const noexcept { return use_; }
    [[nodiscard]] logger const& log() const noexcept { return log_; }

    /// line is where connections wait for an upstream that has no room.
    [[nodiscard]] connect_queue& line() noexcept { return line_; }

    /// on_connection, on_close keep count of the connections.
    void on_connection() noexcept { ++connections_; }
    void on_close(close_reason why) noexcept;

    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

    /// closed counts how connections ended. Any thread may read it.
    [[nodiscard]] close_counters const& closed() const noexcept { return closed_; }

    /// acceptor is a listening socket with the TLS context of its connections.
    struct acceptor
    {
        acceptor(net::worker& on, unique_fd socket, tls::context_spec const& spec);

        net::entry_ptr entry;
        tls::context context;
        net::interrupt by; ///< Ends the accepting.
        std::string name;  ///< Its address, as the log spells it.
    };

private:
    net::worker& on_;
    snapshot const& use_;
    logger log_;
    std::vector<std::unique_ptr<acceptor>> acceptors_;
    connect_queue line_;
    std::size_t connections_ = 0;
    bool draining_ = false;
    close_counters closed_;
};

} // namespace cleat::app
