// How do I serve WebSockets with Boost.Beast, and end clients that stay away?
//
//     websocket_beast --cert site.pem [--listen 127.0.0.1:8443]

#include "arguments.hpp"

#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <chrono>
#include <utility>
#include <variant>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = cleat::net;
namespace websocket = boost::beast::websocket;
using namespace asio::experimental::awaitable_operators;

using request = http::request<http::empty_body>;

// Beast's own timeouts hold for a WebSocket: it pings a client that is silent, and closes.
asio::awaitable<void> echo(net::connection c, request upgrade)
{
    websocket::stream<net::stream<net::socket>> socket{std::move(c.stream)};
    socket.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    co_await socket.async_accept(upgrade, asio::use_awaitable);
    beast::flat_buffer message;
    for (;;) {
        auto [ec, n] = co_await socket.async_read(message, asio::as_tuple(asio::use_awaitable));
        if (ec) // websocket::error::closed: the WebSocket and TLS have ended cleanly.
            co_return;
        socket.text(socket.got_text());
        co_await socket.async_write(message.data(), asio::use_awaitable);
        message.consume(n);
    }
}

// A timer beside an operation is its deadline: the operator cancels the one that is slower.
asio::awaitable<void> serve(net::connection c)
{
    beast::flat_buffer buffer;
    request upgrade;
    asio::steady_timer deadline{c.stream.get_executor(), std::chrono::seconds{30}};
    auto read = co_await (
        http::async_read(c.stream, buffer, upgrade, asio::as_tuple(asio::use_awaitable)) ||
        deadline.async_wait(asio::as_tuple(asio::use_awaitable)));
    if (read.index() == 1 || std::get<0>(std::get<0>(read)))
        co_return;
    if (websocket::is_upgrade(upgrade)) {
        co_await echo(std::move(c), std::move(upgrade));
        co_return;
    }
    http::response<http::string_body> refusal{http::status::upgrade_required, upgrade.version()};
    refusal.set(http::field::upgrade, "websocket");
    refusal.set(http::field::connection, "upgrade, close");
    refusal.prepare_payload();
    co_await http::async_write(c.stream, refusal, asio::use_awaitable);
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

constexpr char const* usage = "--cert site.pem [--listen 127.0.0.1:8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        net::server_spec spec;
        spec.listen = given.value("--listen", "127.0.0.1:0");
        spec.tls.alpn = {"http/1.1"};
        spec.tls.certificates.push_back(example::certificate(given.value("--cert")));
        net::server server{std::move(spec), serve};
        example::say_ready(server.port());
        given.wait_for_signal();
    });
}
