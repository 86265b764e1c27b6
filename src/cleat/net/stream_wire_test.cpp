// Records on the wire, memory of a stream, and errors of a broken connection.

#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace asio = boost::asio;

namespace cleat::net::stream_wire_test {
namespace {

// The lengths of the records in a socket's receive buffer. The records stay there.
std::vector<std::size_t> records_waiting(int fd)
{
    std::string bytes(4'000'000, '\0');
    ssize_t const n = ::recv(fd, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    std::vector<std::size_t> found;
    for (std::size_t start = 0; n > 0 && start + 5 <= static_cast<std::size_t>(n);) {
        auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
        found.push_back(std::size_t{byte(start + 3)} << 8U | byte(start + 4));
        start += 5 + found.back();
    }
    return found;
}

// TLS 1.3 seals with a 16 byte tag and one byte for the type.
constexpr std::size_t sealed(std::size_t plain)
{
    return plain + 17;
}

} // namespace

TEST_CASE_TEMPLATE("buffers of any size leave as full records", World, socket_world, worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        int const fd = ends.server.lowest_layer().native_handle();

        std::string const piece(50, 'x');
        std::vector<asio::const_buffer> const twenty(20, asio::buffer(piece));
        CHECK(co_await ends.client.async_write_some(twenty, asio::use_awaitable) == 1000);
        CHECK(records_waiting(fd) == std::vector{sealed(1000)});

        std::string got(1000, '\0');
        co_await asio::async_read(ends.server, asio::buffer(got), asio::use_awaitable);

        std::string const large(20'000, 'y');
        std::vector<asio::const_buffer> const mixed{
            asio::buffer(piece), asio::buffer(large), {}, asio::buffer(large), asio::buffer(piece)};
        CHECK(co_await ends.client.async_write_some(mixed, asio::use_awaitable) == 40'100);
        std::size_t const full = limits::plaintext_record_max;
        CHECK(
            records_waiting(fd) ==
            std::vector{sealed(full), sealed(full), sealed(40'100 - 2 * full)});
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "more buffers than one write takes are written in part", World, socket_world, split_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string const piece(3, 'x');
        std::vector<asio::const_buffer> const many(
            limits::pending_writes_max + 5, asio::buffer(piece));
        std::size_t const n = co_await ends.client.async_write_some(many, asio::use_awaitable);
        CHECK(n == 3 * limits::pending_writes_max);
        std::string got(n, '\0');
        co_await asio::async_read(ends.server, asio::buffer(got), asio::use_awaitable);
        CHECK(got == std::string(n, 'x'));
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "a write to a peer that does not read grows no larger than a turn", World, socket_world,
    worker_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string const much(8'000'000, 'x');
        std::size_t const before = ::mallinfo2().uordblks;
        std::size_t completed = 0;
        asio::async_write(ends.client, asio::buffer(much), [](error_code, std::size_t) {});
        for (int i = 0; i < 200; ++i)
            co_await asio::post(asio::use_awaitable);
        CHECK(::mallinfo2().uordblks - before < 2 * limits::turn_min);
        CHECK(completed == 0);
        ends.client.lowest_layer().close();
        for (int i = 0; i < 20; ++i)
            co_await asio::post(asio::use_awaitable);
    }(pair));
    world.run();
}

// A client with Nagle's algorithm on may wait for the acknowledgment that the ticket carries.
TEST_CASE_TEMPLATE(
    "a server that waits for its client's first bytes has sent the session ticket", World,
    socket_world, worker_world, split_world)
{
    World world;
    both_ends<World> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        int const fd = ends.client.lowest_layer().native_handle();
        std::string word(3, '\0');
        bool done = false;
        ends.server.async_read_some(asio::buffer(word), [&](error_code ec, std::size_t) {
            CHECK(!ec);
            done = true;
        });
        for (int i = 0; i != 1000 && records_waiting(fd).empty(); ++i)
            co_await asio::post(ends.server.get_executor(), asio::use_awaitable);
        CHECK(!done);
        CHECK(records_waiting(fd).size() == 1);
        co_await asio::async_write(ends.client, asio::buffer("ask", 3), asio::use_awaitable);
        while (!done)
            co_await asio::post(ends.server.get_executor(), asio::use_awaitable);
        CHECK(word == "ask");
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE("a stream that waits to read holds no buffer", World, socket_world, worker_world)
{
    World world;
    std::vector<both_ends<World>> all;
    constexpr std::size_t count = 50;
    for (std::size_t i = 0; i < count; ++i)
        all.emplace_back(world);
    spawn(world, [](World& loop, auto& many) -> asio::awaitable<void> {
        for (auto& ends : many) {
            spawn(loop, handshake(ends.server, stream_base::server));
            co_await handshake(ends.client, stream_base::client);
            co_await wait_until_established(ends.server);
        }
        // Each reads one record, so that everything that is made on first use exists.
        std::string got(10, '\0');
        for (auto& ends : many) {
            co_await asio::async_write(ends.client, asio::buffer("x", 1), asio::use_awaitable);
            co_await ends.server.async_read_some(asio::buffer(got), asio::use_awaitable);
        }
        std::size_t const before = ::mallinfo2().uordblks;
        for (auto& ends : many)
            ends.server.async_read_some(asio::buffer(got), [](error_code, std::size_t) {});
        for (int i = 0; i < 100; ++i)
            co_await asio::post(asio::use_awaitable);
        // The memory of the operations. A ticket that waited for a write leaves now, and its memory
        // is freed.
        CHECK(::mallinfo2().uordblks < before + count * 1024);
        for (auto& ends : many)
            ends.server.lowest_layer().close();
        for (int i = 0; i < 100; ++i)
            co_await asio::post(asio::use_awaitable);
    }(world, all));
    world.run();
}

TEST_CASE("over another stream a block is held only while a read waits")
{
    split_world world;
    both_ends<split_world> pair{world};
    spawn(world, handshake(pair.server, stream_base::server));
    spawn(world, [](auto& ends) -> asio::awaitable<void> {
        co_await handshake(ends.client, stream_base::client);
        co_await wait_until_established(ends.server);
        std::string got(10, '\0');
        co_await asio::async_write(ends.client, asio::buffer("x", 1), asio::use_awaitable);
        co_await ends.server.async_read_some(asio::buffer(got), asio::use_awaitable);
        std::size_t const before = ::mallinfo2().uordblks;
        bool done = false;
        ends.server.async_read_some(
            asio::buffer(got), [&](error_code ec, std::size_t) { done = !ec; });
        co_await asio::post(asio::use_awaitable);
        co_await asio::async_write(ends.client, asio::buffer("y", 1), asio::use_awaitable);
        while (!done)
            co_await asio::post(asio::use_awaitable);
        CHECK(::mallinfo2().uordblks < before + limits::plaintext_record_max);
        CHECK(got[0] == 'y');
    }(pair));
    world.run();
}

TEST_CASE_TEMPLATE(
    "keys are updated while both sides write", World, socket_world, split_world, worker_world)
{
    // The answer to a KeyUpdate must not come between or before records that wait for the socket.
    World world;
    both_ends<World> pair{world};
    static std::string const sent(3'000'000, 'k');
    auto const write_all = [](auto& s, bool updates) -> asio::awaitable<void> {
        for (std::size_t done = 0; done < sent.size();) {
            if (updates)
                REQUIRE(SSL_key_update(s.native_handle(), SSL_KEY_UPDATE_REQUESTED) == 1);
            done += co_await s.async_write_some(
                asio::buffer(
                    sent.data() + done, std::min<std::size_t>(200'000, sent.size() - done)),
                asio::use_awaitable);
        }
    };
    auto const read_all = [](auto& s) -> asio::awaitable<void> {
        std::string got(sent.size(), '\0');
        co_await asio::async_read(s, asio::buffer(got), asio::use_awaitable);
        CHECK(got == sent);
    };
    auto const both_ways = [&](auto& s, stream_base::handshake_type role) -> asio::awaitable<void> {
        co_await handshake(s, role);
        spawn(world, write_all(s, role == stream_base::server));
        spawn(world, read_all(s));
    };
    spawn(world, both_ways(pair.server, stream_base::server));
    spawn(world, both_ways(pair.client, stream_base::client));
    world.run();
}

TEST_CASE("a reset is a system error")
{
    using tcp = asio::ip::tcp;
    asio::io_context io;
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    tcp::socket raw{io};
    raw.connect(acceptor.local_endpoint());
    stream<tcp::socket> client{std::move(raw), contexts().client};
    stream<tcp::socket> server{acceptor.accept(), contexts().server};
    asio::co_spawn(io, handshake(server, stream_base::server), asio::detached);
    asio::co_spawn(
        io,
        [](auto& c, auto& s) -> asio::awaitable<void> {
            co_await handshake(c, stream_base::client);
            co_await asio::async_write(c, asio::buffer("x", 1), asio::use_awaitable);
            std::string got(10, '\0');
            co_await s.async_read_some(asio::buffer(got), asio::use_awaitable);
            c.next_layer().set_option(asio::socket_base::linger{true, 0});
            c.next_layer().close();
            auto const [ec, n] = co_await s.async_read_some(asio::buffer(got), as_result);
            CHECK(ec == asio::error::connection_reset);
            auto const [late, none] = co_await s.async_write_some(asio::buffer("y", 1), as_result);
            CHECK(late == asio::error::broken_pipe);
        }(client, server),
        asio::detached);
    io.run();
    CHECK(server.engine().established());
}

} // namespace cleat::net::stream_wire_test
