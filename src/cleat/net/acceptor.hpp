// acceptor: takes the connections that a listening socket has for a worker.

#pragma once

#include <cleat/core/adaptive_turn.hpp>
#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/repeated_task.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cleat::net {

class worker;

/// acceptor_spec is what an acceptor does with connections.
struct acceptor_spec
{
    /// Takes a connection, whose socket is non-blocking and close-on-exec. An error for which
    /// is_out_of_resources is true makes the acceptor pause; others are ignored. Must not throw.
    std::function<error_code(unique_fd accepted, address const& peer)> serve;

    /// Called before each pause with its reason: the kernel's, or that of `serve`. For logs; must
    /// not throw.
    std::function<void(error_code why)> on_pause{};

    /// The backlog with which the socket listens. The kernel queues one connection more than this,
    /// and close takes all of them.
    int backlog = listen_options{}.backlog;
};

/// acceptor accepts from one listening socket, from its construction until it is closed. It belongs
/// to its worker's thread.
///
/// It accepts with the priority of a handshake; until then new connections wait in the kernel's
/// queue. While connections come one by one it calls accept(2) once for each, because a second call
/// that finds none would cost each connection a system call. Each time that it finds connections
/// queued it takes twice as many, up to limits::accept_batch_max and within the worker's time for
/// handshakes. Out of descriptors or memory it pauses for limits::accept_pause.
class acceptor : waiter, deadline
{
public:
    /// Allocates. `listening` is a non-blocking socket. The acceptor must be destroyed before its
    /// worker, and not by its own `serve`.
    acceptor(net::worker& owner, unique_fd listening, acceptor_spec spec);
    acceptor(acceptor&&) = delete;
    ~acceptor();

    /// change gives the listening socket other options, which its later connections inherit. After
    /// an error some of the options may be set. Does nothing when closed.
    [[nodiscard]] error_code change(listen_options const& options) noexcept;

    /// queued is how many connections wait in the kernel's queue; 0 when closed, and for sockets
    /// other than TCP's.
    [[nodiscard]] std::size_t queued() const noexcept;

    /// is_crowded: more than limits::crowd_min connections waited when it last began to accept, or
    /// half of what the kernel queues, where that is less.
    [[nodiscard]] bool is_crowded() const noexcept { return is_crowded_; }

    /// close accepts the connections that the kernel has queued, because closing the socket would
    /// reset them, and then closes it. Where resources run out the rest is reset. A second call
    /// does nothing.
    void close() noexcept;

private:
    struct queue
    {
        std::size_t length = 0;
        std::size_t longest = 0;
    };

    [[nodiscard]] queue queue_now() const noexcept;
    [[nodiscard]] bool sees_crowd() const noexcept;
    void wait() noexcept;
    void enqueue() noexcept;
    void accept_batch() noexcept;
    [[nodiscard]] bool accept_one(error_code& out_of_resources) noexcept;
    void pause(error_code why) noexcept;

    net::worker& worker_;
    acceptor_spec spec_;
    entry_ptr listening_; // Null when closed.
    repeated_task turn_;
    adaptive_turn<1, limits::accept_batch_max> batch_;
    std::uint64_t wait_began_ = 0; // The worker's pass in which the wait began.
    bool found_at_once_ = false;   // The last wait ended in the next pass.
    bool is_crowded_ = false;
};

} // namespace cleat::net
