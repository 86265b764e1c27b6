// How many connections to take at once: one, while they come one by one, since a second accept that
// finds none would cost each of them a system call. More, while every look finds one waiting, as
// long as handshakes have time in this turn of the loop. The others wait in the kernel.

#include "accept.hpp"
#include "terminator.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/task.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {
namespace {

// The name of the deadline that ends a pause after a failed accept. Any deadline's name would do:
// this one ends no connection.
constexpr error pause_over = error::idle_timeout;

enum class accepted
{
    one,
    none,
    out_of_resources
};

accepted log_failure(worker_service& service, error_code why)
{
    service.log().error("accept-failed").add("reason", why);
    return accepted::out_of_resources;
}

// Starts the connection's coroutine, which runs to its first wait. False: memory has run out, and
// the connection is closed.
bool start_connection(
    worker_service& service, frontend_socket& frontend, unique_fd fd, net::address const& peer)
{
    constexpr close_reason out = close_reason::out_of_resources;
    std::uint64_t const before = service.closed().value(out);
    try {
        terminate(service, frontend, net::socket{service.worker(), std::move(fd)}, peer);
    } catch (std::bad_alloc const&) { // The coroutine has not begun, so it has counted nothing.
        service.on_connection();
        service.on_close(out);
    }
    return service.closed().value(out) == before;
}

accepted accept_one(worker_service& service, frontend_socket& frontend)
{
    net::address peer;
    peer.size = sizeof peer.storage;
    int const fd = ::accept4(
        frontend.entry->fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
        SOCK_NONBLOCK | SOCK_CLOEXEC);
    error_code why;
    if (fd < 0)
        why = last_system_error();
    else if (!start_connection(service, frontend, unique_fd{fd}, peer))
        why = make_error_code(boost::system::errc::not_enough_memory);
    else
        return accepted::one;
    // Another error: there is none, or one was gone before it was taken (ECONNABORTED and the
    // network's errors).
    if (!is_out_of_resources(why))
        return accepted::none;
    return log_failure(service, why);
}

// Takes connections until the frontend's interrupt is raised.
net::detached accept_from(worker_service& service, frontend_socket& frontend)
{
    net::interrupt& interrupt = frontend.interrupt;
    int batch = 1;
    for (;;) {
        net::interest const readable{frontend.entry.get(), true, false};
        std::uint64_t const before = service.worker().turns();
        net::ready arrival{interrupt, readable};
        error_code const ec = co_await arrival;
        if (ec == error::stopped)
            co_return;
        frontend.entry->use_up_read();

        bool const queued = arrival.found_in() == before + 1;
        batch = queued ? std::min(batch * 2, limits::accept_batch_max) : 1;
        // Any other error is the kernel's, which has no memory to watch the socket just now.
        accepted last = ec ? log_failure(service, ec) : accepted::one;
        for (int i = 0; i < batch && last == accepted::one; ++i) {
            last = accept_one(service, frontend);
            if (service.worker().time_is_up())
                break;
        }
        if (last == accepted::none)
            batch = 1;
        if (last == accepted::out_of_resources) {
            frontend.entry->unwatch();
            interrupt.expires_in(limits::accept_pause, pause_over);
            error_code const why = co_await net::pause(interrupt);
            if (why == error::stopped)
                co_return;
            interrupt.clear();
        }
    }
}

// Closing a listening socket resets the connections that the kernel has queued for it, so they are
// taken first.
void accept_queued(worker_service& service, frontend_socket& frontend)
{
    for (int i = 0; i < *service.configuration().settings.backlog; ++i)
        if (accept_one(service, frontend) != accepted::one)
            return;
}

} // namespace

frontends::frontends(worker_service& service, std::vector<bound_socket> sockets) : service_{service}
{
    for (bound_socket& bound : sockets)
        sockets_.push_back(std::make_unique<frontend_socket>(service.worker(), std::move(bound)));
}

void frontends::start()
{
    for (std::unique_ptr<frontend_socket> const& frontend : sockets_)
        accept_from(service_, *frontend);
}

void frontends::drain() noexcept
{
    if (std::exchange(draining_, true))
        return;
    for (std::unique_ptr<frontend_socket> const& frontend : sockets_) {
        frontend->interrupt.raise(error::stopped);
        accept_queued(service_, *frontend);
        frontend->entry->close(); // The kernel gives this worker no new connections.
    }
    // Not earlier: a queued connection that ends at once must not stop the worker.
    service_.stop_after_last_connection();
}

} // namespace cleat::app
