#include "accept.hpp"
#include "terminator.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/acceptor.hpp>

#include <new>
#include <utility>

namespace cleat::app {
namespace {

// Starts the connection's coroutine, which runs to its first wait. The error: memory has run out,
// and the connection is closed.
error_code start_connection(
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
    if (service.closed().value(out) == before)
        return {};
    return make_error_code(boost::system::errc::not_enough_memory);
}

} // namespace

struct frontends::accepting
{
    accepting(worker_service& service, bound_socket bound)
        : frontend{bound}
        , acceptor{
              service.worker(),
              std::move(bound.socket),
              {.serve =
                   [this, &service](unique_fd fd, net::address const& peer) {
                       return start_connection(service, frontend, std::move(fd), peer);
                   },
               .on_pause =
                   [&service](error_code why) {
                       service.log().error("accept-failed").add("reason", why);
                   },
               .backlog = *service.configuration().settings.backlog}}
    {
    }

    frontend_socket frontend;
    net::acceptor acceptor;
};

frontends::frontends(worker_service& service, std::vector<bound_socket> sockets) : service_{service}
{
    for (bound_socket& bound : sockets)
        sockets_.push_back(std::make_unique<accepting>(service, std::move(bound)));
}

frontends::~frontends() = default;

void frontends::drain() noexcept
{
    if (std::exchange(draining_, true))
        return;
    for (std::unique_ptr<accepting> const& each : sockets_)
        each->acceptor.close(); // The kernel gives this worker no new connections.
    // Not earlier: a queued connection that ends at once must not stop the worker.
    service_.stop_after_last_connection();
}

} // namespace cleat::app
