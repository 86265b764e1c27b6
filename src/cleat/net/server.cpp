// One service for each worker: it accepts, and serves each connection in a coroutine. `served` is
// what can cut one short: the deadline of its handshake, and the end of its worker, both by way of
// Asio's cancellation.

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

// A socket that is bound to one address has it; one that is bound to all must be asked.
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
        worker& on, server_spec const& spec, std::vector<address> const& at,
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

    worker& on_;
    server_spec const& spec_;
    tls::context context_;
    handler serve_;
    std::vector<std::unique_ptr<acceptor>>
        acceptors_; // Closed, they stay: a turn of theirs may be queued.
};

/// acceptor is one listening socket of a service. It takes connections among the handshakes that
/// its worker has to do: those that come meanwhile wait in the kernel.
class service::acceptor : deadline, task_node
{
public:
    acceptor(service& of, address bound, unique_fd listening)
        : deadline{[](deadline& d) noexcept { static_cast<acceptor&>(d).wait_for_turn(); }}
        , of_{of}
        , bound_{bound}
        , listening_{new readiness::entry{of.on_.readiness(), std::move(listening)}}
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

    /// close takes the connections that the kernel has queued already, which closing their socket
    /// would reset, and then closes it.
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
            of_.on_.arm(*this, limits::accept_pause);
    }

    enum class accepted : std::uint8_t
    {
        one,
        gone, // Before it was taken: accept(2) passes its errors on.
        none,
        out_of_resources
    };

    void wait_for_turn() noexcept
    {
        if (!std::exchange(queued_, true))
            of_.on_.push_here(*this, priority::handshake);
    }
    accepted accept_one() noexcept;
    void accept_some() noexcept;

    service& of_;
    address bound_;
    entry_ptr listening_;
    accept_waiter on_readable_;
    bool queued_ = false;
};

service::service(
    worker& on, server_spec const& spec, std::vector<address> const& at,
    std::vector<unique_fd> sockets, handler serve)
    : on_{on}, spec_{spec}, context_{spec.tls}, serve_{std::move(serve)}
{
    for (std::size_t i = 0; i < sockets.size(); ++i)
        acceptors_.push_back(std::make_unique<acceptor>(*this, at[i], std::move(sockets[i])));
}

void service::stop_accepting() noexcept
{
    for (std::unique_ptr<acceptor> const& each : acceptors_)
        each->close();
}

/// served lives as long as the coroutine that serves its connection.
struct service::served : waiter
{
    served(worker& on, address const& from) : by{on}, peer{from}
    {
        wake = [](waiter& w, error_code) noexcept {
            static_cast<served&>(w).cancel.emit(asio::cancellation_type::terminal);
        };
        by.guard(this);
    }

    asio::cancellation_signal cancel;
    interrupt by;
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
        return of_.start(std::move(fd), peer, bound_) ? accepted::one : accepted::out_of_resources;
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
            return of_.on_.arm(*this, limits::accept_pause);
        case accepted::one:
        case accepted::gone:
            break;
        }
        if (of_.on_.time_is_up())
            break;
    }
    // Others want their turn. What is still to be accepted makes no new event.
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
                 on_.number(),
                 true,
                 make_error_code(boost::system::errc::not_enough_memory),
                 {}});
        return false;
    }
}

void service::begin(unique_fd accepted, address const& peer, address const& bound)
{
    auto s = std::make_unique<served>(on_, peer);
    served& here = *s;
    if (here.by.raised())
        return; // The worker is ending.
    asio::co_spawn(
        on_.get_executor(), serve(here, socket{on_, std::move(accepted)}, bound),
        asio::bind_cancellation_slot(
            here.cancel.slot(), [this, s = std::move(s)](std::exception_ptr why) noexcept {
                try {
                    if (why)
                        std::rethrow_exception(why);
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

    s.by.expires_in(spec_.handshake_timeout, error::handshake_timeout);
    s.by.guard(&s);
    // A handshake costs much, and has its time among others of its kind, from its first byte on.
    tls.next_layer().set_priority(priority::handshake);
    auto [ec] = co_await tls.next_layer().async_wait(
        socket::wait_read, asio::as_tuple(asio::use_awaitable));
    if (!ec)
        ec = s.by.raised(); // While it waited for its turn.
    if (!ec)
        std::tie(ec) =
            co_await tls.async_handshake(tls::role::server, asio::as_tuple(asio::use_awaitable));
    tls.next_layer().set_priority(priority::established);
    if (ec) {
        error_code const cut_short = s.by.raised();
        report(s, cut_short ? cut_short : ec, tls.engine().failure().reason);
        co_return;
    }
    s.by.clear();
    s.established = true;

    facts const known{.peer = s.peer, .local = local, .worker = on_.number(), .tls = tls.info()};
    // Named, because g++ 12 destroys an aggregate twice that is made in a co_await's arguments.
    connection whole{std::move(tls), known};
    co_await serve_(std::move(whole));
}

void service::report(served const& s, error_code ec, std::string_view reason) const
{
    if (spec_.on_failure)
        spec_.on_failure({s.peer, on_.number(), !s.established, ec, reason});
}

} // namespace

struct server::state
{
    server_spec spec;
    listening sockets;
    std::vector<std::unique_ptr<service>> services; // Each is touched by its own worker only.
    std::unique_ptr<worker_pool> pool;

    void stop_accepting();
};

void server::state::stop_accepting()
{
    pool->broadcast([this](worker& on) { services[on.number()]->stop_accepting(); });
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
    // Workers build their own; this one finds what is wrong while nothing has begun.
    static_cast<void>(tls::context{s.spec.tls});
    std::size_t const count = worker_count(s.spec.workers);
    s.sockets = listen_on_all(s.spec.listen, s.spec.socket, count);
    s.services.resize(count);

    worker_pool_spec pool;
    pool.workers = count;
    pool.pin = s.spec.pin;
    pool.begin = [&s, make = std::move(each_worker.make)](worker& on) {
        std::size_t const i = on.number();
        s.services[i] = std::make_unique<service>(
            on, s.spec, s.sockets.at, std::move(s.sockets.by_worker[i]), make(on));
    };
    pool.end = [&s](worker& on) { s.services[on.number()].reset(); };
    s.pool = std::make_unique<worker_pool>(std::move(pool));
}

server::~server()
{
    stop();
}

address const& server::local_address() const noexcept
{
    return state_->sockets.at.front();
}

std::vector<address> const& server::local_addresses() const noexcept
{
    return state_->sockets.at;
}

worker_pool& server::workers() noexcept
{
    return *state_->pool;
}

std::size_t server::drain(std::chrono::milliseconds longest)
{
    state_->stop_accepting();
    std::size_t const left = state_->pool->drain(longest);
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
