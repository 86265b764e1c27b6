// One service for each worker: it accepts, and starts a session for each connection. A session is
// what can cut a connection short: its deadline for the handshake, and the end of its worker, both
// by way of Asio's cancellation.

#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::net {
namespace asio = boost::asio;
namespace {

// Out of descriptors or memory: nothing would wake us when there are some again.
constexpr std::chrono::milliseconds accept_again_after{100};

// What a cancelled handler may take to end.
constexpr std::chrono::milliseconds farewell{1000};

/// service accepts connections on one worker and hands them to its handler.
class service : deadline
{
public:
    service(worker& on, server_spec const& spec, address bound, unique_fd listening, handler serve)
        : deadline{[](deadline& d) noexcept { static_cast<service&>(d).accept_all(); }}
        , on_{on}
        , spec_{spec}
        , context_{spec.tls}
        , serve_{std::move(serve)}
        , bound_{bound}
        , listening_{new readiness::entry{on.readiness(), std::move(listening)}}
    {
        on_readable_.self = this;
        on_readable_.wake = [](waiter& w, error_code) noexcept {
            static_cast<accept_waiter&>(w).self->accept_all();
        };
        wait();
    }

    void stop_accepting() noexcept
    {
        cancel();
        listening_.reset();
    }

private:
    struct accept_waiter : waiter
    {
        service* self = nullptr;
    };
    struct session;

    void wait() noexcept
    {
        // The kernel refuses to watch when it is out of memory.
        if (listening_->wait_readable(on_readable_))
            on_.arm(*this, accept_again_after);
    }

    void accept_all() noexcept;
    void start(unique_fd accepted, address const& peer);
    asio::awaitable<void> serve(session& s, socket accepted);
    void report(session const& s, error_code ec, std::string_view reason) const;
    [[nodiscard]] address local_end_of(int fd) const noexcept;

    worker& on_;
    server_spec const& spec_;
    tls::context context_;
    handler serve_;
    address bound_;
    entry_ptr listening_;
    accept_waiter on_readable_;
};

/// session lives as long as the coroutine that serves its connection.
struct service::session : waiter
{
    session(worker& on, address const& from) : by{on}, peer{from}
    {
        wake = [](waiter& w, error_code) noexcept {
            static_cast<session&>(w).cancel.emit(asio::cancellation_type::terminal);
        };
        by.guard(this);
    }

    asio::cancellation_signal cancel;
    interrupt by;
    address peer;
    bool established = false;
};

void service::accept_all() noexcept
{
    for (int i = 0; i < limits::accept_batch_max; ++i) {
        listening_->use_up_read();
        address peer;
        peer.size = sizeof peer.storage;
        unique_fd accepted{::accept4(
            listening_->fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
            SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (accepted) {
            start(std::move(accepted), peer);
            continue;
        }
        switch (errno) {
        case EAGAIN:
            return wait();
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            return on_.arm(*this, accept_again_after);
        default:
            break; // Of one connection that is gone already: accept(2) passes its errors on.
        }
    }
    // Others want their turn. What is still to be accepted makes no new event.
    on_.get_executor().require(asio::execution::blocking.never).execute([this] {
        if (listening_)
            accept_all();
    });
}

void service::start(unique_fd accepted, address const& peer)
{
    auto s = std::make_unique<session>(on_, peer);
    session& here = *s;
    if (here.by.raised())
        return; // The worker is ending.
    asio::co_spawn(
        on_.get_executor(), serve(here, socket{on_, std::move(accepted)}),
        asio::bind_cancellation_slot(
            here.cancel.slot(), [this, s = std::move(s)](std::exception_ptr why) noexcept {
                try {
                    if (why)
                        std::rethrow_exception(why);
                } catch (boost::system::system_error const& e) {
                    report(*s, e.code(), {});
                } catch (std::exception const& e) {
                    report(*s, error::library, e.what());
                } catch (...) {
                    report(*s, error::library, "an exception that is none of the standard's");
                }
            }));
}

asio::awaitable<void> service::serve(session& s, socket accepted)
{
    address const local = local_end_of(accepted.native_handle());
    stream<socket> tls{std::move(accepted), context_};

    s.by.expires_in(spec_.handshake_timeout, error::handshake_timeout);
    s.by.guard(&s);
    auto const [ec] =
        co_await tls.async_handshake(tls::role::server, asio::as_tuple(asio::use_awaitable));
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

void service::report(session const& s, error_code ec, std::string_view reason) const
{
    if (spec_.on_failure)
        spec_.on_failure({s.peer, on_.number(), !s.established, ec, reason});
}

address service::local_end_of(int fd) const noexcept
{
    // A socket that is bound to one address has it; one that is bound to all must be asked.
    auto const& v4 = reinterpret_cast<sockaddr_in const&>(bound_.storage);
    auto const& v6 = reinterpret_cast<sockaddr_in6 const&>(bound_.storage);
    bool const any = bound_.family() == AF_INET ? v4.sin_addr.s_addr == INADDR_ANY
                                                : IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
    if (result<address> const asked = any ? net::local_address(fd) : bound_; asked)
        return *asked;
    return bound_;
}

// "host:port", where an IPv6 host is in brackets.
std::pair<std::string, std::string> host_and_port(std::string const& text)
{
    std::size_t const colon = text.rfind(':');
    if (colon == std::string::npos)
        throw std::invalid_argument{
            "listen on '" + text + "': give an address and a port, 127.0.0.1:8443"};
    std::string host = text.substr(0, colon);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    return {host, text.substr(colon + 1)};
}

template <class T>
T value_or_throw(result<T> found, std::string const& what)
{
    if (!found)
        throw boost::system::system_error{found.error(), what};
    return std::move(*found);
}

} // namespace

struct server::state
{
    server_spec spec;
    address bound;
    std::vector<unique_fd> listening;
    std::vector<std::unique_ptr<service>> services; // Each is touched by its own worker only.
    std::unique_ptr<worker_pool> pool;

    void bind(std::size_t count);
    void stop_accepting();
};

void server::state::bind(std::size_t count)
{
    std::string const what = "listen on " + spec.listen;
    auto const [host, port] = host_and_port(spec.listen);
    bound = value_or_throw(resolve(host, port), what).front();
    spec.socket.reuse_port = true;
    for (std::size_t i = 0; i < count; ++i) {
        listening.push_back(value_or_throw(listen_on(bound, spec.socket), what));
        // The first one gets the port, the others join it.
        if (i == 0)
            bound = value_or_throw(net::local_address(listening.front().get()), what);
    }
}

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
    s.bind(count);
    s.services.resize(count);

    worker_pool_spec pool;
    pool.workers = count;
    pool.pin = s.spec.pin;
    pool.begin = [&s, make = std::move(each_worker.make)](worker& on) {
        std::size_t const i = on.number();
        s.services[i] =
            std::make_unique<service>(on, s.spec, s.bound, std::move(s.listening[i]), make(on));
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
    return state_->bound;
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
    state_->pool->drain(farewell);
    state_->pool->stop();
}

} // namespace cleat::net
