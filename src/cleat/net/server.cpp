// One service for each worker: it accepts, and serves each connection in a coroutine. `served` ends
// a connection early, at its handshake's deadline or when its worker stops, by Asio's cancellation.

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/acceptor.hpp>
#include <cleat/net/async_arrival.hpp>
#include <cleat/net/context_plan.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/listening.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/worker_contexts.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <memory>
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
        net::worker& owner, server_spec const& spec, worker_contexts& contexts,
        std::vector<address> const& addresses, std::vector<unique_fd> sockets, handler serve);

    void stop_accepting() noexcept;

private:
    struct served;

    error_code start(unique_fd accepted, address const& peer, address const& bound) noexcept;
    void begin(unique_fd accepted, address const& peer, address const& bound);
    asio::awaitable<void> serve(served& s, socket accepted, address bound);
    void report(served const& s, error_code ec, std::string_view reason) const;

    net::worker& worker_;
    server_spec const& spec_;
    worker_contexts& contexts_;
    handler serve_;
    std::vector<std::unique_ptr<acceptor>> acceptors_; // Each accepts on one address.
};

service::service(
    net::worker& owner, server_spec const& spec, worker_contexts& contexts,
    std::vector<address> const& addresses, std::vector<unique_fd> sockets, handler serve)
    : worker_{owner}, spec_{spec}, contexts_{contexts}, serve_{std::move(serve)}
{
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        acceptor_spec accepting{
            .serve =
                [this, &bound = addresses[i]](unique_fd fd, address const& peer) {
                    return start(std::move(fd), peer, bound);
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

// The error: there is no memory for one more connection, and this one is closed.
error_code service::start(unique_fd accepted, address const& peer, address const& bound) noexcept
{
    try {
        begin(std::move(accepted), peer, bound);
        return {};
    } catch (std::bad_alloc const&) {
        error_code const why = make_error_code(boost::system::errc::not_enough_memory);
        if (spec_.on_failure)
            spec_.on_failure({peer, worker_.number(), true, why, {}});
        return why;
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

asio::awaitable<void> service::serve(served& s, socket accepted, address bound)
{
    address const local = local_end_of(accepted.native_handle(), bound);
    stream<socket> tls{std::move(accepted), contexts_.present()};
    worker_certificates* const certificates = contexts_.certificates(); // The context's.

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
    server_spec spec; // `tls` is empty after the start: the contexts have what they need.
    listening listeners;
    std::atomic<worker_contexts::reload_number> reloads{0};
    present_loading loading;
    present_plan plan;
    std::vector<std::unique_ptr<worker_contexts>> contexts; // By worker, as the services.
    std::vector<std::unique_ptr<service>> services;         // Each is used by its own worker only.
    std::unique_ptr<worker_pool> pool;

    store_loading& find_loading(std::size_t cache);
    std::vector<std::unique_ptr<context_delivery>> make_contexts(
        context_plan& next, worker_contexts::reload_number number);
    void keep(std::unique_ptr<context_plan> used) noexcept;
    void stop_accepting();
};

store_loading& server::state::find_loading(std::size_t cache)
{
    if (store_loading* const present = loading.find())
        return *present;
    auto made = std::make_unique<store_loading>(pool->size());
    for (std::size_t i = 0; i < pool->size(); ++i)
        made->add((*pool)[i], cache);
    return loading.keep(std::move(made));
}

std::vector<std::unique_ptr<context_delivery>> server::state::make_contexts(
    context_plan& next, worker_contexts::reload_number number)
{
    store_loading* const loads = next.has_store() ? &find_loading(next.cache()) : nullptr;
    std::vector<std::unique_ptr<context_delivery>> made;
    try {
        for (std::size_t i = 0; i < pool->size(); ++i)
            made.push_back(
                std::make_unique<context_delivery>(*contexts[i], next.make(i, loads), number));
    } catch (...) { // The workers' library states may end before this thread does.
        for (std::size_t i = 0; loads != nullptr && i < pool->size(); ++i)
            loads->by_worker[i]->table().leave_thread();
        throw;
    }
    return made;
}

// Without a store nothing of it is kept, such as its private keys.
void server::state::keep(std::unique_ptr<context_plan> used) noexcept
{
    used->finish();
    plan.put(used->has_store() ? std::move(used) : nullptr);
}

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
    // Each worker builds its own context. A first one is built to throw before any thread starts.
    if (!s.spec.tls.certificate_store)
        static_cast<void>(tls::context{s.spec.tls});
    std::size_t const count = worker_count(s.spec.workers);
    auto first = std::make_unique<context_plan>(std::exchange(s.spec.tls, {}), count, nullptr);
    if (first->has_store())
        s.loading.keep(std::make_unique<store_loading>(count));
    s.listeners = listen_on_all(s.spec.listen, s.spec.socket, count);
    s.contexts.resize(count);
    s.services.resize(count);

    worker_pool_spec pool;
    pool.workers = count;
    pool.pin = s.spec.pin;
    pool.begin = [&s, plan = first.get(), make = std::move(each_worker.make)](worker& each) {
        std::size_t const i = each.number();
        store_loading* const loading = s.loading.find();
        if (loading != nullptr)
            loading->add(each, plan->cache());
        s.contexts[i] = std::make_unique<worker_contexts>(plan->make(i, loading));
        s.services[i] = std::make_unique<service>(
            each, s.spec, *s.contexts[i], s.listeners.addresses, std::move(s.listeners.sockets[i]),
            make(each));
    };
    pool.end = [&s](worker& each) {
        s.services[each.number()].reset();
        s.contexts[each.number()]->end();
    };
    s.pool = std::make_unique<worker_pool>(std::move(pool));
    s.keep(std::move(first));
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

void server::reload(tls::context_spec spec)
{
    state& s = *state_;
    // Taken first: of two calls at a time the later one has the last word on every worker.
    worker_contexts::reload_number const number = ++s.reloads;
    spec.role = tls::role::server;
    worker_pool& pool = *s.pool;
    for (std::size_t i = 0; i < pool.size(); ++i)
        CLEAT_ASSERT(!pool[i].get_executor().runs_here()); // It would wait for itself.

    std::unique_ptr<context_plan> before = s.plan.take();
    std::vector<std::unique_ptr<context_delivery>> made;
    try {
        auto next = std::make_unique<context_plan>(std::move(spec), pool.size(), before.get());
        made = s.make_contexts(*next, number);
        s.keep(std::move(next));
    } catch (...) {
        s.plan.put_back(std::move(before));
        throw;
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
        // A worker that ends after this look destroys what is in its queue.
        if (!s.contexts[i]->ended())
            pool[i].push(*made[i].release());
    }
    for (std::unique_ptr<worker_contexts> const& each : s.contexts)
        each->wait_for(number);
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
