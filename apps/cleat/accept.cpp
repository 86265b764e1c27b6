// How many connections to take at once: one, while they come one by one, since a second accept only
// to hear that there is none would cost each of them a system call; more, while every look finds
// one waiting, as long as handshakes have time in this turn of the loop. The others wait in the
// kernel.

#include "accept.hpp"
#include "terminator.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>
#include <new>

#include <sys/socket.h>

namespace cleat::app {
namespace {

// What tells that the pause after an accept that failed is over. Any deadline's name would do: none
// of these ends a connection.
constexpr error pause_over = error::idle_timeout;

enum class accepted
{
    one,
    none,
    out_of_resources
};

accepted failed(worker_service& at, error_code why)
{
    at.log().error("accept-failed").add("reason", why);
    return accepted::out_of_resources;
}

// begin starts the connection's coroutine, which runs to its first wait. False: memory has run out,
// and the connection is closed.
bool begin(
    worker_service& at, worker_service::acceptor& acceptor, unique_fd fd, net::address const& peer)
{
    constexpr close_reason out = close_reason::out_of_resources;
    std::uint64_t const before = at.closed().value(out);
    try {
        terminate(at, acceptor, net::socket{at.worker(), std::move(fd)}, peer);
    } catch (std::bad_alloc const&) { // It has not begun, so it cannot tell its own end.
        at.on_connection();
        at.on_close(out);
    }
    return at.closed().value(out) == before;
}

accepted accept_one(worker_service& at, worker_service::acceptor& acceptor)
{
    net::address peer;
    peer.size = sizeof peer.storage;
    int const fd = ::accept4(
        acceptor.entry->fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
        SOCK_NONBLOCK | SOCK_CLOEXEC);
    error_code why;
    if (fd < 0)
        why = last_system_error();
    else if (!begin(at, acceptor, unique_fd{fd}, peer))
        why = make_error_code(boost::system::errc::not_enough_memory);
    else
        return accepted::one;
    // Another error: there is none, or one was gone before it was taken (ECONNABORTED and the
    // network's errors).
    if (!is_out_of_resources(why))
        return accepted::none;
    return failed(at, why);
}

} // namespace

net::detached accept_from(worker_service& at, worker_service::acceptor& acceptor)
{
    net::interrupt& by = acceptor.by;
    int batch = 1;
    for (;;) {
        net::interest const readable{acceptor.entry.get(), true, false};
        std::uint64_t const before = at.worker().turns();
        net::ready arrival{by, readable};
        error_code const ec = co_await arrival;
        if (ec == error::stopped)
            co_return;
        acceptor.entry->use_up_read();

        bool const queued = arrival.found_in() == before + 1;
        batch = queued ? std::min(batch * 2, limits::accept_batch_max) : 1;
        // Any other error is the kernel's, which has no memory to watch the socket just now.
        accepted last = ec ? failed(at, ec) : accepted::one;
        for (int i = 0; i < batch && last == accepted::one; ++i) {
            last = accept_one(at, acceptor);
            if (at.worker().time_is_up())
                break;
        }
        if (last == accepted::none)
            batch = 1;
        if (last == accepted::out_of_resources) {
            acceptor.entry->unwatch();
            by.expires_in(limits::accept_pause, pause_over);
            error_code const why = co_await net::pause(by);
            if (why == error::stopped)
                co_return;
            by.clear();
        }
    }
}

void accept_waiting(worker_service& at, worker_service::acceptor& acceptor)
{
    for (int i = 0; i < *at.current().settings.backlog; ++i)
        if (accept_one(at, acceptor) != accepted::one)
            return;
}

} // namespace cleat::app
