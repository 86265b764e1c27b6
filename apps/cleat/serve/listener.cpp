#include "connection/client_address.hpp"
#include "connection/connection_log.hpp"
#include "connection/limited_client.hpp"
#include "connection/plaintext_alert.hpp"
#include "connection/triage.hpp"
#include "serve/listener.hpp"
#include "serve/serve_by_hello.hpp"
#include "terminator.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/socket_options.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <sys/resource.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

// A connection needs one for its client, and one for its upstream.
constexpr std::size_t descriptors_of_one = 2;

// Resets the client. No coroutine is made for it.
void refuse_at_once(
    frontend_socket const& frontend, unique_fd fd, net::address const& peer,
    error_code why) noexcept
{
    std::unique_ptr<inbound_header> const none;
    connection_log log{frontend, peer, none};
    net::reset_on_close(fd.get());
    log.refused(why);
}

// As refuse_at_once, with handshake-shed. The alert is lost where the socket is closed with bytes
// that were not read: the client then gets a reset.
void shed_at_once(frontend_socket const& frontend, unique_fd fd, net::address const& peer) noexcept
{
    if (*frontend.service.configuration().settings.handshake_shed == shed_answer::reset)
        return refuse_at_once(frontend, std::move(fd), peer, error::handshake_shed);
    std::unique_ptr<inbound_header> const none;
    connection_log log{frontend, peer, none};
    static_cast<void>(
        ::recv(fd.get(), nullptr, limits::client_hello_max, MSG_TRUNC | MSG_DONTWAIT));
    alert_record const alert = alert_record_of(alert_internal_error);
    static_cast<void>(::send(fd.get(), alert.data(), alert.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    log.refused(error::handshake_shed);
}

// True: the client wants a full handshake, which would come too late, or few descriptors are left.
// The connection is to end before a coroutine is made for it. False also where other bytes come
// before the ClientHello, or where another server may answer it.
bool is_shed_at_once(frontend_socket const& frontend, int fd, bool has_few_descriptors) noexcept
{
    handshake_line const& line = frontend.service.connections().line();
    if (line.size() == 0 || !(has_few_descriptors || is_line_full(frontend, signature_cost::low) ||
                              is_line_full(frontend, signature_cost::high)))
        return false;
    config const& settings = frontend.service.configuration().settings;
    if (frontend.plan.takes_plaintext || reads_hello_first(frontend) ||
        expects_proxy_header(settings, frontend.plan.admission.get()))
        return false;
    std::optional<signature_cost> const wanted = full_handshake_of(frontend, fd);
    return wanted && (has_few_descriptors || is_line_full(frontend, *wanted));
}

// Starts the connection's coroutine, which runs to its first wait. The error: memory has run out,
// and the connection is closed.
error_code start_connection(
    frontend_socket& frontend, unique_fd fd, net::address const& peer, bool has_few_descriptors)
{
    if (error_code const ec = check_open_connections(frontend)) {
        refuse_at_once(frontend, std::move(fd), peer, ec);
        return {};
    }
    if (is_shed_at_once(frontend, fd.get(), has_few_descriptors)) {
        shed_at_once(frontend, std::move(fd), peer);
        return {};
    }
    if (!frontend.service.connections().memory().admits()) { // The last: it counts them.
        refuse_at_once(frontend, std::move(fd), peer, error::memory_limit);
        return {};
    }
    worker_service& service = frontend.service;
    constexpr close_reason out = close_reason::out_of_resources;
    auto const& closed = service.connections().counts().closed;
    std::uint64_t const before = closed.value(out);
    try {
        terminate(service, frontend, net::socket{service.worker(), std::move(fd)}, peer);
    } catch (std::bad_alloc const&) { // The coroutine has not begun, so it has counted nothing.
        service.on_connection(frontend);
        service.on_close(frontend, out);
    }
    if (closed.value(out) == before)
        return {};
    return make_error_code(boost::system::errc::not_enough_memory);
}

// The first descriptor number of the reserve: the kernel gives the lowest that is free.
int first_of_reserve() noexcept
{
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0)
        return INT_MAX;
    rlim_t const most = std::min<rlim_t>(allowed.rlim_cur, INT_MAX);
    return static_cast<int>(most - std::min(most / 8, rlim_t{limits::descriptor_reserve}));
}

} // namespace

listener::listener(unique_fd socket, frontend_socket& frontend)
    : frontend_{&frontend}
    , first_of_reserve_{first_of_reserve()}
    , acceptor_{
          frontend.service.worker(),
          std::move(socket),
          {.serve =
               [this](unique_fd fd, net::address const& peer) {
                   bool const has_few_descriptors = fd.get() >= first_of_reserve_;
                   if (has_few_descriptors)
                       evict(descriptors_of_one);
                   if (acceptor_.is_crowded())
                       frontend_->service.connections().line().note_crowd();
                   return start_connection(*frontend_, std::move(fd), peer, has_few_descriptors);
               },
           .on_pause =
               [this](error_code why) {
                   frontend_->service.log().error("accept-failed").add("reason", why);
                   evict(limits::evicted_at_once);
               },
           .backlog = *frontend.service.configuration().settings.backlog}}
{
}

void listener::evict(std::size_t count) const noexcept
{
    worker_service& service = frontend_->service;
    service.connections().half_open().evict(count, service.worker().now());
}

void listener::publish_queue() const noexcept
{
    if (frontend_->counts.queued != nullptr)
        frontend_->counts.queued->add(acceptor_.queued()); // Several may share `other`.
}

void listener::serve(frontend_socket& frontend) noexcept
{
    frontend_ = &frontend;
    first_of_reserve_ = first_of_reserve();
    net::listen_options const options =
        listen_options_of(frontend.service.configuration(), frontend.plan);
    if (error_code const ec = acceptor_.change(options))
        frontend.service.log()
            .warning("listen-options")
            .add("frontend", frontend.name)
            .add("reason", ec);
}

} // namespace cleat::app
