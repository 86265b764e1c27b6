// Every operation is cancelled at every step, with every kind, and the stream must still work.

#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <optional>
#include <string>

namespace asio = boost::asio;

namespace cleat::net::stream_cancellation_test {
namespace {

using kind = asio::cancellation_type;

struct operation_outcome
{
    std::optional<error_code> ec;
    std::size_t bytes = 0;
    asio::cancellation_signal signal;

    auto handler()
    {
        return asio::bind_cancellation_slot(signal.slot(), [this](error_code e, std::size_t n = 0) {
            ec = e;
            bytes = n;
        });
    }
};

} // namespace

TEST_CASE_TEMPLATE("a cancelled read loses nothing", World, socket_world, split_world, worker_world)
{
    for (kind const each : {kind::terminal, kind::partial, kind::total}) {
        World world;
        both_ends<World> pair{world};
        spawn(world, handshake(pair.server, stream_base::server));
        spawn(world, [](auto& ends, kind cancellation) -> asio::awaitable<void> {
            co_await handshake(ends.client, stream_base::client);
            co_await wait_until_established(ends.server);
            std::string got(100, '\0');
            operation_outcome read;
            ends.server.async_read_some(asio::buffer(got), read.handler());
            co_await settle();
            REQUIRE(!read.ec);
            read.signal.emit(cancellation);
            co_await settle();
            REQUIRE(read.ec);
            CHECK(*read.ec == asio::error::operation_aborted);
            CHECK(read.bytes == 0);

            co_await asio::async_write(
                ends.client, asio::buffer("still here"), asio::use_awaitable);
            std::size_t const n =
                co_await ends.server.async_read_some(asio::buffer(got), asio::use_awaitable);
            CHECK(got.substr(0, n) == std::string{"still here", 11});
        }(pair, each));
        world.run();
    }
}

TEST_CASE_TEMPLATE(
    "a cancellation that crosses the data loses none of it", World, socket_world, split_world,
    worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string all;
        std::size_t aborted = 0;
        for (int round = 0; round < 20; ++round) {
            std::string got(100, '\0');
            operation_outcome read;
            ends.server.async_read_some(asio::buffer(got), read.handler());
            co_await settle();
            ends.client.async_write_some(
                asio::buffer("abcdef", 6), [](error_code ec, std::size_t) { CHECK(!ec); });
            for (int i = 0; i < round % 5; ++i)
                co_await asio::post(asio::use_awaitable);
            read.signal.emit(kind::total);
            co_await settle();
            REQUIRE(read.ec);
            aborted += *read.ec == asio::error::operation_aborted ? 1U : 0U;
            all += got.substr(0, read.bytes);
            if (read.bytes == 0)
                all += got.substr(
                    0,
                    co_await ends.server.async_read_some(asio::buffer(got), asio::use_awaitable));
        }
        CHECK(aborted > 0);
        std::string expected;
        for (int round = 0; round < 20; ++round)
            expected += "abcdef";
        CHECK(all == expected);
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a cancelled write reports the bytes that will still be sent", World, socket_world, split_world,
    worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string sent(4'000'000, ' ');
        for (std::size_t i = 0; i < sent.size(); ++i)
            sent[i] = static_cast<char>('a' + i * 31 / 7 % 26);
        // The peer does not read, so a write soon has to wait, with bytes that it has taken.
        std::size_t taken = 0;
        for (;;) {
            operation_outcome write;
            ends.client.async_write_some(
                asio::buffer(sent.data() + taken, sent.size() - taken), write.handler());
            co_await settle();
            if (!write.ec) {
                write.signal.emit(kind::total); // Ignored: the write has taken bytes.
                co_await settle();
                CHECK(!write.ec);
                write.signal.emit(kind::partial);
                co_await settle();
                REQUIRE(write.ec);
                CHECK(*write.ec == asio::error::operation_aborted);
                CHECK(write.bytes > 0);
                taken += write.bytes;
                break;
            }
            REQUIRE(!*write.ec);
            taken += write.bytes;
            REQUIRE(taken < sent.size());
        }
        // A write behind these bytes took none yet, so that it can be cancelled without effect.
        operation_outcome write;
        ends.client.async_write_some(asio::buffer("never sent", 10), write.handler());
        co_await settle();
        REQUIRE(!write.ec);
        write.signal.emit(kind::total);
        co_await settle();
        REQUIRE(write.ec);
        CHECK(write.bytes == 0);

        bool wrote = false;
        asio::async_write(
            ends.client, asio::buffer(sent.data() + taken, sent.size() - taken),
            [&](error_code ec, std::size_t) { wrote = !ec; });
        std::string got(sent.size(), '\0');
        co_await asio::async_read(ends.server, asio::buffer(got), asio::use_awaitable);
        CHECK(got == sent);
        co_await settle();
        CHECK(wrote);
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a handshake that is cancelled at each of its steps goes on", World, socket_world, split_world,
    worker_world)
{
    for (int steps = 0; steps < 12; ++steps) {
        World world;
        both_ends<World> pair{world};
        spawn(world, handshake(pair.client, stream_base::client));
        spawn(world, [](auto& ends, int delay) -> asio::awaitable<void> {
            operation_outcome shake;
            ends.server.async_handshake(stream_base::server, shake.handler());
            for (int i = 0; i < delay; ++i)
                co_await asio::post(asio::use_awaitable);
            if (!shake.ec)
                shake.signal.emit(kind::partial);
            co_await settle();
            REQUIRE(shake.ec);
            if (*shake.ec) {
                CHECK(*shake.ec == asio::error::operation_aborted);
                co_await handshake(ends.server, stream_base::server);
            }
            CHECK(ends.server.engine().established());
        }(pair, steps));
        world.run();
    }
}

TEST_CASE_TEMPLATE(
    "a shutdown that is cancelled goes on", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        operation_outcome first;
        ends.client.async_shutdown(first.handler());
        co_await settle();
        REQUIRE(!first.ec);
        first.signal.emit(kind::terminal);
        co_await settle();
        REQUIRE(first.ec);
        CHECK(*first.ec == asio::error::operation_aborted);
        operation_outcome second;
        ends.client.async_shutdown(second.handler());
        auto const [ec] = co_await ends.server.async_shutdown(as_result);
        CHECK(!ec);
        co_await settle();
        REQUIRE(second.ec);
        CHECK(!*second.ec);
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a shutdown that queues behind a read can be cancelled there", World, socket_world, split_world,
    worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string got(10, '\0');
        operation_outcome read, shutdown;
        ends.client.async_read_some(asio::buffer(got), read.handler());
        co_await settle();
        ends.client.async_shutdown(shutdown.handler());
        co_await settle();
        CHECK(!read.ec);
        REQUIRE(!shutdown.ec);
        shutdown.signal.emit(kind::terminal);
        co_await settle();
        REQUIRE(shutdown.ec);
        CHECK(*shutdown.ec == asio::error::operation_aborted);
        co_await asio::async_write(ends.server, asio::buffer("more", 4), asio::use_awaitable);
        co_await settle();
        REQUIRE(read.ec);
        CHECK(got.substr(0, read.bytes) == "more");
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a timer cancels a read, and a later read gets the data", World, socket_world, split_world,
    worker_world)
{
    using namespace asio::experimental::awaitable_operators;
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string got(10, '\0');
        asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::milliseconds{1}};
        auto const first = co_await (
            ends.server.async_read_some(asio::buffer(got), asio::use_awaitable) ||
            timer.async_wait(asio::use_awaitable));
        CHECK(first.index() == 1);
        co_await asio::async_write(ends.client, asio::buffer("late", 4), asio::use_awaitable);
        std::size_t const n =
            co_await ends.server.async_read_some(asio::buffer(got), asio::use_awaitable);
        CHECK(got.substr(0, n) == "late");
    }(pair));
    world.run();
}

TEST_CASE("a timeout of beast's stream is the error of the operation that it ends")
{
    using tcp = asio::ip::tcp;
    asio::io_context io;
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    tcp::socket silent{io};
    silent.connect(acceptor.local_endpoint());
    stream<boost::beast::tcp_stream> server{acceptor.accept(), contexts().server};
    server.next_layer().expires_after(std::chrono::milliseconds{1});
    std::optional<error_code> ended;
    server.async_handshake(stream_base::server, [&](error_code ec) { ended = ec; });
    io.run();
    REQUIRE(ended);
    CHECK(*ended == boost::beast::error::timeout);
}

TEST_CASE_TEMPLATE(
    "closing the socket ends its waits", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string got(10, '\0');
        operation_outcome read;
        ends.client.async_read_some(asio::buffer(got), read.handler());
        co_await settle();
        ends.client.lowest_layer().close();
        co_await settle();
        REQUIRE(read.ec);
        CHECK(*read.ec == asio::error::operation_aborted);
        auto const [ec, n] = co_await ends.client.async_write_some(asio::buffer("x", 1), as_result);
        CHECK(ec == asio::error::bad_descriptor);
        CHECK(n <= 1);
    }(pair));
    world.run();
}

} // namespace cleat::net::stream_cancellation_test
