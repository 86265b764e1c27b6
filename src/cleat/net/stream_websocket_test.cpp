// Beast's WebSocket on a stream, as its own examples use it.

#include <cleat/net/socket.hpp>
#include <cleat/net/ssl.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>

#include <future>
#include <string>
#include <type_traits>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

namespace cleat::net::stream_websocket_test {

using tcp_socket = asio::ip::tcp::socket;

namespace {

asio::awaitable<void> serve_websocket(auto& ws)
{
    co_await ws.next_layer().async_handshake(stream_base::server, asio::use_awaitable);
    co_await ws.async_accept(asio::use_awaitable);
    beast::flat_buffer buffer;
    for (;;) {
        auto const [ec, n] = co_await ws.async_read(buffer, asio::as_tuple(asio::use_awaitable));
        if (ec == websocket::error::closed)
            break;
        REQUIRE_MESSAGE(!ec, ec.message());
        co_await ws.async_write(buffer.data(), asio::use_awaitable);
        buffer.consume(buffer.size());
    }
}

asio::awaitable<void> ask_websocket(auto& ws)
{
    co_await ws.next_layer().async_handshake(stream_base::client, asio::use_awaitable);
    co_await ws.async_handshake("cleat.example", "/", asio::use_awaitable);
    for (std::size_t const size : {1U, 1'000U, 300'000U}) {
        std::string const sent(size, 'w');
        co_await ws.async_write(asio::buffer(sent), asio::use_awaitable);
        beast::flat_buffer got;
        co_await ws.async_read(got, asio::use_awaitable);
        CHECK(beast::buffers_to_string(got.data()) == sent);
    }
    co_await ws.async_close(websocket::close_code::normal, asio::use_awaitable);
}

} // namespace

TEST_CASE("a WebSocket echo, closed by both")
{
    worker_world world;
    auto sockets = world.sockets();
    websocket::stream<stream<socket>> server{std::move(sockets.first), contexts().server};
    websocket::stream<stream<socket>> client{std::move(sockets.second), contexts().client};
    spawn(world, serve_websocket(server));
    spawn(world, ask_websocket(client));
    world.run();
}

// One of Beast's examples calls it without its namespace.
tcp_socket& lowest_of(stream<tcp_socket>& s)
{
    return get_lowest_layer(s); // house(names): Beast's
}

TEST_CASE("Beast finds the lowest layer, and ends the TLS of a WebSocket by blocking calls")
{
    using tls_stream = stream<beast::tcp_stream>;
    static_assert(std::is_same_v<beast::lowest_layer_type<tls_stream>, beast::tcp_stream>);
    asio::io_context no_loop{1};
    stream<tcp_socket> plain{no_loop, contexts().client};
    CHECK(&lowest_of(plain) == &plain.next_layer());
    asio::io_context io{1};
    asio::ip::tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    std::future<error_code> closed = std::async(std::launch::async, [&] {
        asio::io_context own{1};
        websocket::stream<tls_stream> ws{own, contexts().client};
        beast::get_lowest_layer(ws).connect(acceptor.local_endpoint());
        ws.next_layer().handshake(stream_base::client);
        ws.handshake("cleat.example", "/");
        error_code ec;
        ws.close(websocket::close_code::normal, ec);
        return ec;
    });
    websocket::stream<tls_stream> ws{acceptor.accept(), contexts().server};
    ws.next_layer().handshake(stream_base::server);
    ws.accept();
    beast::flat_buffer buffer;
    error_code ec;
    ws.read(buffer, ec);
    CHECK(ec == websocket::error::closed);
    CHECK(closed.get() == error_code{});
}

} // namespace cleat::net::stream_websocket_test
