// One service for each worker: it accepts, and serves each connection in a coroutine. `served` ends
// a connection early, at its handshake's deadline or when its worker stops, by Asio's cancellation.

#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/listening.hpp>
#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

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
    bool const any = bound.family() == AF_INET ? v4.sin_addr.s_addr == INADDR_ANY
                                               : IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
    if (result<address> const asked = any ? net::local_address(fd) : bound; asked)
        return *asked;
    return bound;
}

/// service accepts connections on one worker and hands them to its handler.
class service
{
public:
    service(
        net::worker& owner, server_spec const& spec, std::vector<address> const& addresses,
        std::vector<unique_fd> sockets, handler serve);

    void stop_accepting() noexcept;

private:
    class acceptor;
    struct served;

    [[nodiscard]] bool start(
        unique_fd accepted, address const& peer, address const& bound) noexcept;
    void begin(unique_fd accepted, address const& peer, address const& bound);
    asio::awaitable<void> serve(served& s, socket accepted, address bound);
    void report(served const& s, error_code ec, std::string_view reason) const;

    net::worker& worker_;
    server_spec const& spec_;
    tls::context context_;
    handler serve_;
    // Closed ones stay, because one may be in the worker's queue.
    std::vector<std::unique_ptr<acceptor>> acceptors_;
};

/// acceptor is one listening socket of a service. It accepts with the priority of a handshake:
/// connections that come before its turn wait in the kernel.
class service::acceptor : deadline, task_node
{
public:
    acceptor(service& owner, address bound, unique_fd listening)
        : deadline{[](deadline& d) noexcept { static_cast<acceptor&>(d).wait_for_turn(); }}
        , service_{owner}
        , bound_{bound}
        , listening_{new readiness::entry{owner.worker_.readiness(), std::move(listening)}}
    {
        on_readable_.self = this;
        on_readable_.wake = [](waiter& w, error_code) noexcept {
            static_cast<accept_waiter&>(w).self->wait_for_turn();
        };
        finish = [](task_node& n, bool run) noexcept {
            acceptor& self = static_cast<acceptor&>(n);
            self.queued_ = false;
            if (run && self.listening_)
                self.accept_some();
        };
        wait();
    }

    /// close accepts the connections that the kernel has queued, because closing the socket would
    /// reset them, and then closes it.
    void close() noexcept
    {
        if (!listening_)
            return;
        cancel();
        for (int i = 0; i != limits::queued_connections_max && accept_one() == accepted::one; ++i) {
        }
        listening_.reset();
    }

private:
    struct accept_waiter : waiter
    {
        acceptor* self = nullptr;
    };

    void wait() noexcept
    {
        // The kernel refuses to watch when it is out of memory.
        if (listening_->wait_readable(on_readable_))
            service_.worker_.arm(*this, limits::accept_pause);
    }

    enum class accepted : std::uint8_t
    {
        one,
        gone, // It ended before it was accepted: accept(2) returns its error.
        none,
        out_of_resources
    };

    void wait_for_turn() noexcept
    {
        if (!std::exchange(queued_, true))
            service_.worker_.push_here(*this, priority::handshake);
    }
    accepted accept_one() noexcept;
    void accept_some() noexcept;

    service& service_;
    address bound_;
    entry_ptr listening_;
    accept_waiter on_readable_;
    bool queued_ = false;
};

service::service(
    net::worker& owner, server_spec const& spec, std::vector<address> const& addresses,
    std::vector<unique_fd> sockets, handler serve)
    : worker_{owner}, spec_{spec}, context_{spec.tls}, serve_{std::move(serve)}
{
    for (std::size_t i = 0; i < sockets.size(); ++i)
        acceptors_.push_back(
            std::make_unique<acceptor>(*this, addresses[i], std::move(sockets[i])));
}

void service::stop_accepting() noexcept
{
    for (std::unique_ptr<acceptor> const& each : acceptors_)
        each->close();
}

/// served is one connection's state. It lives as long as the coroutine that serves the connection.
struct service::served : waiter
{
    served(net::worker& owner, address const& client) : interrupt{owner}, peer{client}
    {
        wake = [](waiter& w, error_code) noexcept {
            static_cast<served&>(w).cancel.emit(asio::cancellation_type::terminal);
        };
        interrupt.guard(this);
    }

    asio::cancellation_signal cancel;
    net::interrupt interrupt;
    address peer;
    bool established = false;
};

service::acceptor::accepted service::acceptor::accept_one() noexcept
{
    listening_->use_up_read();
    address peer;
    peer.size = sizeof peer.storage;
    unique_fd fd{::accept4(
        listening_->fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
        SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (fd)
        return service_.start(std::move(fd), peer, bound_) ? accepted::one
                                                           : accepted::out_of_resources;
    if (errno == EAGAIN)
        return accepted::none;
    return is_out_of_resources(last_system_error()) ? accepted::out_of_resources : accepted::gone;
}

void service::acceptor::accept_some() noexcept
{
    for (int i = 0; i < limits::accept_batch_max; ++i) {
        switch (accept_one()) {
        case accepted::none:
            return wait();
        case accepted::out_of_resources:
            return service_.worker_.arm(*this, limits::accept_pause);
        case accepted::one:
        case accepted::gone:
            break;
        }
        if (service_.worker_.time_is_up())
            break;
    }
    // Other tasks get their turn. Connections that are still queued make no new event.
    wait_for_turn();
}

// False: there is no memory for one more connection, and this one is closed.
bool service::start(unique_fd accepted, address const& peer, address const& bound) noexcept
{
    try {
        begin(std::move(accepted), peer, bound);
        return true;
    } catch (std::bad_alloc const&) {
        if (spec_.on_failure)
            spec_.on_failure(
                {peer,
                 worker_.number(),
                 true,
                 make_error_code(boost::system::errc::not_enough_memory),
                 {}});
        return false;
    }
}

void service::begin(unique_fd accepted, address const& peer, address const& bound)
{
    auto s = std::make_unique<served>(worker_, peer);
    served& connection = *s;
    if (connection.interrupt.raised())
        return; // The worker is stopping.
    asio::co_spawn(
        worker_.get_executor(), serve(connection, socket{worker_, std::move(accepted)}, bound),
        asio::bind_cancellation_slot(
            connection.cancel.slot(), [this, s = std::move(s)](std::exception_ptr thrown) noexcept {
                try {
                    if (thrown)
                        std::rethrow_exception(thrown);
                } catch (boost::system::system_error const& e) {
                    report(*s, e.code(), {});
                } catch (std::bad_alloc const&) {
                    report(*s, make_error_code(boost::system::errc::not_enough_memory), {});
                } catch (std::exception const& e) {
                    report(*s, error::library, e.what());
                } catch (...) {
                    report(*s, error::library, "an exception that is none of the standard's");
                }
            }));
}

asio::awaitable<void> service::serve(served& s, socket accepted, address bound)
{
    address const local = local_end_of(accepted.native_handle(), bound);
    stream<socket> tls{std::move(accepted), context_};

    s.interrupt.expires_in(spec_.handshake_timeout, error::handshake_timeout);
    s.interrupt.guard(&s);
    // From its first byte on, a handshake shares the time that the worker has for handshakes.
    tls.next_layer().set_priority(priority::handshake);
    auto [ec] = co_await tls.next_layer().async_wait(
        socket::wait_read, asio::as_tuple(asio::use_awaitable));
    if (!ec)
        ec = s.interrupt.raised(); // It may have been raised while this waited for its turn.
    if (!ec)
        std::tie(ec) =
            co_await tls.async_handshake(tls::role::server, asio::as_tuple(asio::use_awaitable));
    tls.next_layer().set_priority(priority::established);
    if (ec) {
        error_code const interrupted = s.interrupt.raised();
        report(s, interrupted ? interrupted : ec, tls.engine().failure().reason);
        co_return;
    }
    s.interrupt.clear();
    s.established = true;

    facts const known{
        .peer = s.peer, .local = local, .worker = worker_.number(), .tls = tls.info()};
    // A variable, because g++ 12 destroys an aggregate made in a co_await's arguments twice.
    connection made{std::move(tls), known};
    co_await serve_(std::move(made));
}

void service::report(served const& s, error_code ec, std::string_view reason) const
{
    if (spec_.on_failure)
        spec_.on_failure({s.peer, worker_.number(), !s.established, ec, reason});
}

} // namespace

struct server::state
{
    server_spec spec;
    listening listeners;
    std::vector<std::unique_ptr<service>> services; // Each is used by its own worker only.
    std::unique_ptr<worker_pool> pool;

    void stop_accepting();
};

void server::state::stop_accepting()
{
    pool->broadcast([this](worker& each) { services[each.number()]->stop_accepting(); });
}

server::server(server_spec spec, handler serve)
    : server{std::move(spec), handler_for{[serve = std::move(serve)](worker&) { return serve; }}}
{
}

server::server(server_spec spec, handler_for each_worker) : state_{std::make_unique<state>()}
{
    state& s = *state_;
    s.spec = std::move(spec);
    s.spec.tls.role = tls::role::server;
    // Each worker builds its own context. This one is built to throw before any thread starts.
    static_cast<void>(tls::context{s.spec.tls});
    std::size_t const count = worker_count(s.spec.workers);
    s.listeners = listen_on_all(s.spec.listen, s.spec.socket, count);
    s.services.resize(count);

    worker_pool_spec pool;
    pool.workers = count;
    pool.pin = s.spec.pin;
    pool.begin = [&s, make = std::move(each_worker.make)](worker& each) {
        std::size_t const i = each.number();
        s.services[i] = std::make_unique<service>(
            each, s.spec, s.listeners.addresses, std::move(s.listeners.sockets[i]), make(each));
    };
    pool.end = [&s](worker& each) { s.services[each.number()].reset(); };
    s.pool = std::make_unique<worker_pool>(std::move(pool));
}

server::~server()
{
    stop();
}

address const& server::local_address() const noexcept
{
    return state_->listeners.addresses.front();
}

std::vector<address> const& server::local_addresses() const noexcept
{
    return state_->listeners.addresses;
}

worker_pool& server::workers() noexcept
{
    return *state_->pool;
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
    state_->pool->drain(limits::handler_farewell);
    state_->pool->stop();
}

} // namespace cleat::net
