// Features of asio::ssl::stream: the executor's default token, and handshakes whose first bytes
// were read before.

#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/handshakes_for_tests.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <concepts>
#include <string>
#include <thread>

namespace asio = boost::asio;

namespace cleat::net::stream_drop_in_test {
namespace {

using awaiting = asio::use_awaitable_t<>::as_default_on_t<plain_stream>;
static_assert(std::same_as<awaiting::native_handle_type, ssl_st*>);

// These two coroutines name no token.
asio::awaitable<void> answer(awaiting& s)
{
    co_await s.async_handshake(stream_base::server);
    std::string got(5, '\0');
    std::size_t const n = co_await s.async_read_some(asio::buffer(got));
    co_await s.async_write_some(asio::buffer(got, n));
    co_await s.async_shutdown();
}

asio::awaitable<void> ask(awaiting& s)
{
    std::size_t const taken = co_await s.async_handshake(stream_base::client, asio::const_buffer{});
    CHECK(taken == 0);
    co_await s.async_write_some(asio::buffer("hello", 5));
    std::string got(5, '\0');
    co_await asio::async_read(s, asio::buffer(got));
    CHECK(got == "hello");
    co_await s.async_shutdown();
}

// Reads the first bytes from the next layer, as a program does that detects the protocol.
asio::awaitable<void> serve_after_peek(auto& s, std::size_t size)
{
    std::string first(size, '\0');
    std::size_t const got = co_await s.next_layer().async_read_some(
        asio::mutable_buffer{first.data(), size}, asio::use_awaitable);
    std::array<asio::const_buffer, 3> const halves{
        asio::buffer(first.data(), got / 2), asio::const_buffer{},
        asio::buffer(first.data() + got / 2, got - got / 2)};
    std::size_t const taken =
        co_await s.async_handshake(stream_base::server, halves, asio::use_awaitable);
    CHECK(taken == got);
    std::string text(5, '\0');
    co_await asio::async_read(s, asio::buffer(text), asio::use_awaitable);
    CHECK(text == "hello");
    co_await s.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> say_hello(auto& s)
{
    co_await s.async_handshake(stream_base::client, asio::use_awaitable);
    co_await asio::async_write(s, asio::buffer("hello", 5), asio::use_awaitable);
    co_await s.async_shutdown(asio::use_awaitable);
}

} // namespace

TEST_CASE("operations complete by the default token of their executor")
{
    socket_world world;
    auto ends = world.sockets();
    awaiting server{awaiting::next_layer_type{std::move(ends.first)}, contexts().server};
    awaiting client{awaiting::next_layer_type{std::move(ends.second)}, contexts().client};
    spawn(world, answer(server));
    spawn(world, ask(client));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a handshake begins with bytes that were read before", World, socket_world, split_world,
    worker_world)
{
    for (std::size_t const size : {std::size_t{1}, std::size_t{5}, std::size_t{4000}}) {
        World world;
        both_ends<World> ends{world};
        spawn(world, serve_after_peek(ends.server, size));
        spawn(world, say_hello(ends.client));
        world.run();
        CHECK(ends.server.info().server_name == "cleat.example");
    }
}

TEST_CASE("a blocking handshake takes bytes that were read before, too")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    std::thread client{[&] {
        ends.client.handshake(stream_base::client);
        asio::write(ends.client, asio::buffer("hello", 5));
    }};
    std::string first(100, '\0');
    std::size_t const got = ends.server.next_layer().read_some(asio::buffer(first));
    error_code ec;
    CHECK(ends.server.handshake(stream_base::server, asio::buffer(first, got), ec) == got);
    CHECK(!ec);
    std::string text(5, '\0');
    asio::read(ends.server, asio::buffer(text));
    CHECK(text == "hello");
    client.join();
}

TEST_CASE("bytes behind the handshake are there for the reads that follow")
{
    // The handshake is cancelled, so that the test can read the client's Finished, which comes with
    // its first data.
    socket_world world;
    auto sockets = world.sockets();
    plain_stream server{std::move(sockets.first), contexts().server};
    int const raw = sockets.second.native_handle();
    channel client{contexts().client};
    std::string bytes(8000, '\0');

    CHECK(client.handshake(raw).next == wait::readable);
    std::size_t got = server.next_layer().read_some(asio::buffer(bytes));
    error_code first_error;
    server.async_handshake(
        stream_base::server, asio::buffer(bytes, got), [&](error_code ec, std::size_t taken) {
            first_error = ec;
            CHECK(taken == got);
        });
    server.next_layer().cancel();
    world.run();
    CHECK(first_error == asio::error::operation_aborted);

    CHECK(client.handshake(raw, false, channel::last_flight::with_first_write).next == wait::none);
    std::array<std::byte, 2> const ok{std::byte{'o'}, std::byte{'k'}};
    channel::piece const pieces[] = {ok};
    CHECK(client.write(raw, pieces).bytes == 2);
    got = server.next_layer().read_some(asio::buffer(bytes));
    CHECK(server.handshake(stream_base::server, asio::buffer(bytes, got)) == got);
    std::string text(2, '\0');
    asio::read(server, asio::buffer(text));
    CHECK(text == "ok");
}

TEST_CASE("more bytes than unsent_max are refused, and so is the other role")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    std::string const too_much(limits::unsent_max + 1, 'x');
    error_code ec;
    CHECK(ends.server.handshake(stream_base::server, asio::buffer(too_much), ec) == 0);
    CHECK(ec == asio::error::no_buffer_space);
    CHECK(ends.server.handshake(stream_base::client, asio::buffer(too_much), ec) == 0);
    CHECK(ec == error::wrong_role);
    CHECK_THROWS_AS(
        ends.server.handshake(stream_base::client, asio::buffer(too_much)),
        boost::system::system_error);
}

} // namespace cleat::net::stream_drop_in_test
