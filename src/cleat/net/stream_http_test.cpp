// Beast's HTTP on a stream, as its own examples use it.

#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <string>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace cleat::net::stream_http_test {
namespace {

using text_request = http::request<http::string_body>;
using text_response = http::response<http::string_body>;

asio::awaitable<void> serve_http(auto& s)
{
    co_await s.async_handshake(stream_base::server, asio::use_awaitable);
    beast::flat_buffer buffer;
    for (;;) {
        text_request request;
        auto const [ec, n] =
            co_await http::async_read(s, buffer, request, asio::as_tuple(asio::use_awaitable));
        if (ec == http::error::end_of_stream)
            break;
        REQUIRE_MESSAGE(!ec, ec.message());
        text_response response{http::status::ok, request.version()};
        response.keep_alive(request.keep_alive());
        response.body() = std::string{request.target()} + ": " + request.body();
        response.prepare_payload();
        co_await http::async_write(s, response, asio::use_awaitable);
    }
    co_await s.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> ask_http(auto& s)
{
    co_await s.async_handshake(stream_base::client, asio::use_awaitable);
    beast::flat_buffer buffer;
    for (std::size_t const size : {0U, 10U, 100'000U}) {
        text_request request{http::verb::post, "/echo", 11};
        request.body() = std::string(size, 'x');
        request.prepare_payload();
        co_await http::async_write(s, request, asio::use_awaitable);
        text_response response;
        co_await http::async_read(s, buffer, response, asio::use_awaitable);
        CHECK(response.body() == "/echo: " + request.body());
    }
    co_await s.async_shutdown(asio::use_awaitable);
}

} // namespace

TEST_CASE_TEMPLATE("HTTP with keep-alive", World, split_world, worker_world)
{
    World world;
    both_ends<World> ends{world};
    spawn(world, serve_http(ends.server));
    spawn(world, ask_http(ends.client));
    world.run();
}

} // namespace cleat::net::stream_http_test
