// One service for each worker: it accepts, and serves each connection in a coroutine. `served` ends
// a connection early, at its handshake's deadline or when its worker stops, by Asio's cancellation.

#include <cleat/core/limits.hpp>
#include <cleat/net/acceptor.hpp>
#include <cleat/net/async_arrival.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/listening.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/server_contexts.hpp>
#include <cleat/net/socket_file.hpp>
#include <cleat/net/worker_contexts.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::net {
namespace asio = boost::asio;
namespace {

// A listening socket bound to one address gives it to all connections. For a socket bound to all
// addresses the kernel must be asked.
address local_end_of(int fd, address const& bound) noexcept
{
    auto const& v4 = reinterpret_cast<sockaddr_in const&>(bound.storage);
    auto const& v6 = reinterpret_cast<sockaddr_in6 const&>(bound.storage);
    bool const any = bound.size == 0 ||
                     (bound.family() == AF_INET && v4.sin_addr.s_addr == INADDR_ANY) ||
                     (bound.family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr));
    if (result<address> const asked = any ? net::local_address(fd) : bound; asked)
        return *asked;
    return bound;
}

/// listening_place is an address that a server listens on, and the number of its listener.
struct listening_place
{
    address bound;
    std::size_t listener = 0;
};

/// origin is how a connection came to its server.
struct origin
{
    address peer;
    address bound; ///< Empty: it was not accepted here.
    std::size_t listener = 0;
};

/// service accepts connections on one worker and hands them to its handler.
class service
{
public:
    /// contexts has one for each listener.
    service(
        net::worker& owner, server_spec const& spec, std::vector<worker_contexts*> contexts,
        std::vector<listening_place> const& places, std::vector<unique_fd> sockets, handler serve);

    /// start serves a connection. The error: there is no memory for one more, and it is closed.
    error_code start(unique_fd accepted, origin const& from) noexcept;

    void stop_accepting() noexcept;

private:
    struct served;

    void begin(unique_fd accepted, origin const& from);
    asio::awaitable<void> serve(served& s, socket accepted);
    void report(served const& s, error_code ec, std::string_view reason) const;

    net::worker& worker_;
    server_spec const& spec_;
    std::vector<worker_contexts*> contexts_; // By listener.
    handler serve_;
    std::vector<std::unique_ptr<acceptor>> acceptors_; // Each accepts on one address.
};

service::service(
    net::worker& owner, server_spec const& spec, std::vector<worker_contexts*> contexts,
    std::vector<listening_place> const& places, std::vector<unique_fd> sockets, handler serve)
    : worker_{owner}, spec_{spec}, contexts_{std::move(contexts)}, serve_{std::move(serve)}
{
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        acceptor_spec accepting{
            .serve =
                [this, &place = places[i]](unique_fd fd, address const& peer) {
                    return start(std::move(fd), {peer, place.bound, place.listener});
                },
            .backlog = spec.socket.backlog};
        acceptors_.push_back(
            std::make_unique<acceptor>(owner, std::move(sockets[i]), std::move(accepting)));
    }
}

void service::stop_accepting() noexcept
{
    for (std::unique_ptr<acceptor> const& each : acceptors_)
        each->close();
}

/// served is one connection's state. It lives as long as the coroutine that serves the connection.
struct service::served : waiter
{
    served(net::worker& owner, origin const& from) : interrupt{owner}, came{from}
    {
        wake = [](waiter& w, error_code) noexcept {
            static_cast<served&>(w).cancel.emit(asio::cancellation_type::terminal);
        };
        interrupt.guard(this);
    }

    asio::cancellation_signal cancel;
    net::interrupt interrupt;
    origin came;
    bool established = false;
};

error_code service::start(unique_fd accepted, origin const& from) noexcept
{
    try {
        begin(std::move(accepted), from);
        return {};
    } catch (std::bad_alloc const&) {
        error_code const why = make_error_code(boost::system::errc::not_enough_memory);
        if (spec_.on_failure)
            spec_.on_failure({from.peer, worker_.number(), true, why, {}});
        return why;
    }
}

void service::begin(unique_fd accepted, origin const& from)
{
    auto s = std::make_unique<served>(worker_, from);
    served& connection = *s;
    if (connection.interrupt.raised())
        return; // The worker is stopping.
    asio::co_spawn(
        worker_.get_executor(), serve(connection, socket{worker_, std::move(accepted)}),
        asio::bind_cancellation_slot(
            connection.cancel.slot(), [this, s = std::move(s)](std::exception_ptr thrown) noexcept {
                try {
                    if (thrown)
                        std::rethrow_exception(thrown);
                } catch (boost::system::system_error const& e) {
                    report(*s, e.code(), e.what());
                } catch (std::bad_alloc const& e) {
                    report(*s, make_error_code(boost::system::errc::not_enough_memory), e.what());
                } catch (std::exception const& e) {
                    report(*s, error::handler_exception, e.what());
                } catch (...) {
                    report(
                        *s, error::handler_exception,
                        "an exception that is none of the standard's");
                }
            }));
}

asio::awaitable<void> service::serve(served& s, socket accepted)
{
    address const local = local_end_of(accepted.native_handle(), s.came.bound);
    worker_contexts& contexts = *contexts_[s.came.listener];
    stream<socket> tls{std::move(accepted), contexts.present()};
    worker_certificates* const certificates = contexts.certificates(); // The context's.

    s.interrupt.expires_in(spec_.handshake_timeout, error::handshake_timeout);
    s.interrupt.guard(&s);
    // From its first byte on, a handshake shares the time that the worker has for handshakes.
    tls.next_layer().set_priority(priority::handshake);
    auto [ec] = co_await tls.next_layer().async_wait(
        socket::wait_read, asio::as_tuple(asio::use_awaitable));
    if (!ec)
        ec = s.interrupt.raised(); // It may have been raised while this was queued.
    while (!ec) {
        std::tie(ec) =
            co_await tls.async_handshake(tls::role::server, asio::as_tuple(asio::use_awaitable));
        if (ec != asio::error::try_again)
            break;
        // The certificate for this client is not loaded.
        ec = s.interrupt.raised();
        if (!ec)
            std::tie(ec) = co_await async_arrival(
                *certificates, *tls.engine().wanted_certificate(),
                asio::as_tuple(asio::use_awaitable));
        if (!ec)
            ec = s.interrupt.raised();
    }
    tls.next_layer().set_priority(priority::established);
    if (ec) {
        if (error_code const interrupted = s.interrupt.raised())
            report(s, interrupted, {});
        else
            report(s, ec, tls.engine().failure().reason);
        co_return;
    }
    s.interrupt.clear();
    s.established = true;

    facts const known{
        .peer = s.came.peer,
        .local = local,
        .worker = worker_.number(),
        .tls = tls.info(),
        .listener = s.came.listener};
    // A variable, because g++ 12 destroys an aggregate made in a co_await's arguments twice.
    connection made{std::move(tls), known};
    co_await serve_(std::move(made));
}

void service::report(served const& s, error_code ec, std::string_view reason) const
{
    if (spec_.on_failure)
        spec_.on_failure({s.came.peer, worker_.number(), !s.established, ec, reason});
}

} // namespace

struct server::state
{
    server_spec spec; // Without `tls`: the contexts have what they need.
    std::vector<listening_place> places;
    std::vector<socket_file> files; // Of the UNIX sockets that are bound here.
    std::vector<std::unique_ptr<server_contexts>>
        contexts;                                   // By listener; null: it has the first's.
    std::vector<std::unique_ptr<service>> services; // By worker; each is used by its own only.
    std::unique_ptr<worker_pool> pool;
    std::atomic<std::size_t> next_worker{0}; // For a connection that was accepted elsewhere.

    std::vector<std::vector<unique_fd>> listen(std::size_t workers);
    void make_contexts(std::size_t workers);
    std::vector<worker_contexts*> contexts_of(worker const& owner);
    void stop_accepting();
};

// The sockets by worker, in the order of `places`.
std::vector<std::vector<unique_fd>> server::state::listen(std::size_t workers)
{
    std::vector<std::vector<unique_fd>> sockets(workers);
    for (std::size_t listener = 0; listener <= spec.listeners.size(); ++listener) {
        std::string const& text = listener == 0 ? spec.listen : spec.listeners[listener - 1].listen;
        listening opened = listen_on_all(text, spec.socket, workers);
        for (address const& each : opened.addresses)
            places.push_back({each, listener});
        files.push_back(std::move(opened.file));
        for (std::size_t i = 0; i < workers; ++i)
            std::ranges::move(opened.sockets[i], std::back_inserter(sockets[i]));
    }
    return sockets;
}

void server::state::make_contexts(std::size_t workers)
{
    contexts.push_back(std::make_unique<server_contexts>(std::exchange(spec.tls, {}), workers));
    for (listener_spec& each : spec.listeners) {
        contexts.push_back(
            each.tls ? std::make_unique<server_contexts>(*std::move(each.tls), workers) : nullptr);
        each.tls.reset();
    }
}

std::vector<worker_contexts*> server::state::contexts_of(worker const& owner)
{
    std::vector<worker_contexts*> found;
    for (std::unique_ptr<server_contexts> const& each : contexts)
        found.push_back(&(each == nullptr ? contexts.front() : each)->of(owner));
    return found;
}

void server::state::stop_accepting()
{
    files.clear(); // The sockets are still open: see socket_file.
    pool->broadcast([this](worker& each) { services[each.number()]->stop_accepting(); });
}

server::server(server_spec spec, handler serve, std::size_t operation_size)
    : server{
          std::move(spec), handler_for{[serve = std::move(serve)](worker&) { return serve; }},
          operation_size}
{
}

server::server(server_spec spec, handler_for each_worker, std::size_t operation_size)
    : state_{std::make_unique<state>()}
{
    if (operation_size != asio_operation_size)
        throw std::logic_error{
            "this program and cleat were compiled with different settings of Boost.Asio, such as "
            "BOOST_ASIO_ENABLE_HANDLER_TRACKING: compile both with the same"};
    state& s = *state_;
    s.spec = std::move(spec);
    std::size_t const count = worker_count(s.spec.workers);
    s.make_contexts(count);
    std::vector<std::vector<unique_fd>> sockets = s.listen(count);
    for (listening_place const& each : s.places)
        addresses_.push_back(each.bound);
    s.services.resize(count);

    worker_pool_spec pool;
    pool.workers = count;
    pool.pin = s.spec.pin;
    pool.begin = [&s, &sockets, make = std::move(each_worker.make)](worker& each) {
        for (std::unique_ptr<server_contexts> const& one : s.contexts)
            if (one != nullptr)
                one->begin(each);
        s.services[each.number()] = std::make_unique<service>(
            each, s.spec, s.contexts_of(each), s.places, std::move(sockets[each.number()]),
            make(each));
    };
    pool.end = [&s](worker& each) {
        s.services[each.number()].reset();
        for (std::unique_ptr<server_contexts> const& one : s.contexts)
            if (one != nullptr)
                one->end(each);
    };
    s.pool = std::make_unique<worker_pool>(std::move(pool));
    for (std::unique_ptr<server_contexts> const& one : s.contexts)
        if (one != nullptr)
            one->begun();
}

server::~server()
{
    stop();
}

address const& server::local_address() const noexcept
{
    return state_->places.front().bound;
}

std::vector<address> const& server::local_addresses() const noexcept
{
    return addresses_;
}

worker_pool& server::workers() noexcept
{
    return *state_->pool;
}

void server::reload(tls::context_spec spec, std::size_t listener)
{
    state& s = *state_;
    if (listener >= s.contexts.size() || s.contexts[listener] == nullptr)
        throw std::invalid_argument{"reload: this listener has no TLS settings of "
                                    "its own, but the server's"};
    s.contexts[listener]->reload(std::move(spec), *s.pool);
    s.pool->follow_cpu_limit();
}

error_code server::serve(unique_fd accepted, std::size_t listener)
{
    state& s = *state_;
    if (listener >= s.contexts.size())
        return asio::error::invalid_argument;
    origin from;
    from.listener = listener;
    from.peer.size = sizeof from.peer.storage;
    if (::getpeername(
            accepted.get(), reinterpret_cast<sockaddr*>(&from.peer.storage), &from.peer.size) != 0)
        return last_system_error();
    int const flags = ::fcntl(accepted.get(), F_GETFL);
    if (flags < 0 || ::fcntl(accepted.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        return last_system_error();
    set_no_delay(accepted.get());
    worker& chosen = (*s.pool)[s.next_worker++ % s.pool->size()];
    asio::post(
        chosen.get_executor(),
        [&s, number = chosen.number(), fd = std::move(accepted), from]() mutable {
            if (s.services[number] != nullptr) // The worker has not ended.
                static_cast<void>(s.services[number]->start(std::move(fd), from));
        });
    return {};
}

std::size_t server::drain(std::chrono::milliseconds timeout)
{
    state_->stop_accepting();
    std::size_t const left = state_->pool->drain(timeout);
    stop();
    return left;
}

void server::stop()
{
    if (!state_->pool)
        return;
    state_->stop_accepting();
    state_->pool->interrupt_all();
    state_->pool->drain(limits::handler_end_max);
    state_->pool->stop();
}

} // namespace cleat::net
