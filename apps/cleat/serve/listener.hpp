// listener: accepts on one listening socket of a worker, and starts terminate() for each
// connection.

#pragma once

#include "worker/frontend_socket.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/acceptor.hpp>

#include <cstddef>

namespace cleat::app {

/// listener belongs to its worker's thread. Where few descriptors are left, each new connection
/// ends others that have not finished their handshake (half_open_list). Out of descriptors or
/// memory, accepting pauses, and new connections wait in the kernel's queue.
class listener
{
public:
    /// Accepts connections for a frontend, from now on. Allocates. `frontend` outlives its
    /// connections.
    listener(unique_fd socket, frontend_socket& frontend);
    listener(listener&&) = delete;
    ~listener() = default;

    /// serve gives later connections to another frontend, with the listening options of its
    /// configuration.
    void serve(frontend_socket& frontend) noexcept;

    /// drain takes the connections that the kernel has queued, and closes the listening socket: the
    /// kernel gives this worker no new ones.
    void drain() noexcept { acceptor_.close(); }

    /// publish_queue counts the connections that wait to be accepted: see frontend_counts.
    void publish_queue() const noexcept;

private:
    void evict(std::size_t count) const noexcept;

    frontend_socket* frontend_;
    int first_of_reserve_; // The number of a descriptor from which on few are left.
    net::acceptor acceptor_;
};

} // namespace cleat::app
