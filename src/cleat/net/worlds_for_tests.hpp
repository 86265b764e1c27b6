// worlds_for_tests: pairs of streams on each kind of layer, and the loops that run them, for tests.

#pragma once

#include <cleat/net/socket.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace cleat::net {

/// split_layer passes on at most size_max bytes of each read and write, so that TLS gets records in
/// pieces. It is not a waitable_socket.
template <class Next>
class split_layer
{
public:
    using executor_type = typename Next::executor_type;
    using lowest_layer_type = typename Next::lowest_layer_type;

    explicit split_layer(Next next) : next_{std::move(next)} {}

    executor_type get_executor() noexcept { return next_.get_executor(); }
    lowest_layer_type& lowest_layer() noexcept { return next_.lowest_layer(); }
    Next& next_layer() noexcept { return next_; }

    template <class Token>
    auto async_read_some(boost::asio::mutable_buffer b, Token&& token)
    {
        ++reads_waiting;
        return next_.async_read_some(boost::asio::buffer(b, size_max), std::forward<Token>(token));
    }
    template <class Token>
    auto async_write_some(boost::asio::const_buffer b, Token&& token)
    {
        return next_.async_write_some(boost::asio::buffer(b, size_max), std::forward<Token>(token));
    }
    std::size_t read_some(boost::asio::mutable_buffer b, error_code& ec)
    {
        return next_.read_some(boost::asio::buffer(b, size_max), ec);
    }
    std::size_t write_some(boost::asio::const_buffer b, error_code& ec)
    {
        return next_.write_some(boost::asio::buffer(b, size_max), ec);
    }

    std::size_t size_max = 1000;
    std::size_t reads_waiting = 0;

private:
    Next next_;
};

/// test_contexts are a server's and a client's, made once.
struct test_contexts
{
    tls::context server;
    tls::context client;
};

inline test_contexts& contexts()
{
    static test_contexts both = [] {
        tls::test_identity const identity = tls::make_identity({.names = {"cleat.example"}});
        tls::context_spec for_server;
        for_server.certificates.push_back(identity.source("test"));
        for_server.alpn = {"echo/1"};
        for_server.tickets = std::make_shared<tls::ticket_secret const>();
        tls::context_spec for_client;
        for_client.role = tls::role::client;
        for_client.verify = tls::peer_verification::required;
        for_client.verify_authorities = identity.certificate_pem;
        for_client.server_name = "cleat.example";
        for_client.alpn = {"echo/1"};
        return test_contexts{tls::context{for_server}, tls::context{for_client}};
    }();
    return both;
}

/// asio_world runs streams on an io_context; Layer is made from a connected UNIX socket.
template <class Layer>
struct asio_world
{
    using stream_type = stream<Layer>;
    using plain = boost::asio::local::stream_protocol::socket;

    std::pair<plain, plain> sockets()
    {
        std::pair<plain, plain> both{plain{io}, plain{io}};
        boost::asio::local::connect_pair(both.first, both.second);
        return both;
    }
    auto executor() { return io.get_executor(); }
    void spawned() {}
    void ended() {}
    void run()
    {
        io.run();
        io.restart();
    }

    boost::asio::io_context io{1};
};

/// worker_world runs streams on a worker of cleat's own.
struct worker_world
{
    using stream_type = stream<socket>;

    std::pair<socket, socket> sockets()
    {
        int fds[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        return {socket{worker, unique_fd{fds[0]}}, socket{worker, unique_fd{fds[1]}}};
    }
    auto executor() { return worker.get_executor(); }
    void spawned() { ++running; }
    void ended()
    {
        if (--running == 0)
            worker.stop();
    }
    void run() { worker.run(); }

    net::worker worker;
    int running = 0;
};

using socket_world = asio_world<boost::asio::local::stream_protocol::socket>;
using split_world = asio_world<split_layer<boost::asio::local::stream_protocol::socket>>;

/// both_ends are a server's and a client's stream on the two ends of a socket pair.
template <class World>
struct both_ends
{
    using stream_type = typename World::stream_type;

    explicit both_ends(World& world) : both_ends{world.sockets()} {}
    template <class Socket>
    explicit both_ends(std::pair<Socket, Socket> s)
        : server{layer(std::move(s.first)), contexts().server}
        , client{layer(std::move(s.second)), contexts().client}
    {
    }

    template <class Socket>
    static auto layer(Socket s)
    {
        return typename stream_type::next_layer_type{std::move(s)};
    }

    stream_type server;
    stream_type client;
};

/// wait_until_established waits until a handshake in another coroutine is done: the two sides do
/// not finish at the same moment.
boost::asio::awaitable<void> wait_until_established(auto& s)
{
    while (!s.engine().established())
        co_await boost::asio::post(boost::asio::use_awaitable);
}

/// spawn starts a coroutine whose exceptions fail the test.
template <class World>
void spawn(World& world, boost::asio::awaitable<void> scenario)
{
    world.spawned();
    boost::asio::co_spawn(
        world.executor(), std::move(scenario), [&world](std::exception_ptr thrown) {
            world.ended();
            try {
                if (thrown)
                    std::rethrow_exception(thrown);
            } catch (std::exception const& e) {
                FAIL_CHECK(std::string{e.what()});
            }
        });
}

} // namespace cleat::net
