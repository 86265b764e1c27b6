// accept: a worker's listening sockets, and their connections into coroutines.

#pragma once

#include "frontend_socket.hpp"
#include "worker_service.hpp"

#include <memory>
#include <vector>

namespace cleat::app {

/// frontends are the listening sockets of one worker. They belong to its thread. Out of descriptors
/// or memory, accepting pauses, and new connections wait in the kernel's queue.
class frontends
{
public:
    /// Begins to accept. Throws what a frontend_socket throws.
    frontends(worker_service& service, std::vector<bound_socket> sockets);
    frontends(frontends&&) = delete;
    ~frontends();

    /// drain takes the connections that the kernel has queued, closes the listening sockets, and
    /// stops the worker once its last connection has ended.
    void drain() noexcept;

private:
    struct accepting;

    worker_service& service_;
    std::vector<std::unique_ptr<accepting>> sockets_;
    bool draining_ = false;
};

} // namespace cleat::app
