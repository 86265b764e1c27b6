#include <cleat/net/coroutines_for_tests.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/net/worlds_for_tests.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;

namespace cleat::net::stream_test {
namespace {

std::string text_of(std::size_t size)
{
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
    return text;
}

asio::awaitable<void> echo(auto& s)
{
    co_await handshake(s, stream_base::server);
    std::string block(40'000, '\0');
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(asio::buffer(block), as_result);
        if (ec == asio::error::eof)
            break;
        REQUIRE_MESSAGE(!ec, ec.message());
        co_await asio::async_write(s, asio::buffer(block, n), asio::use_awaitable);
    }
    co_await s.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> shut_down(auto& s)
{
    auto const [ec] = co_await s.async_shutdown(as_result);
    CHECK(!ec);
}

} // namespace

TEST_CASE("an operation that completes at once is one function, on its handler's executor")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    spawn(world, handshake(ends.server, stream_base::server));
    spawn(world, handshake(ends.client, stream_base::client));
    world.run();
    asio::io_context other{1};
    std::size_t written = 0;
    auto handler = [&](error_code ec, std::size_t n) {
        CHECK(!ec);
        written += n;
    };
    ends.client.async_write_some(
        asio::buffer("message", 7), asio::bind_executor(other.get_executor(), handler));
    CHECK(written == 0);
    CHECK(other.poll() == 1);
    CHECK(written == 7);
    other.restart();
    // The compiler does not know this one's executor: it goes by way of the stream's.
    ends.client.async_write_some(
        asio::buffer("another", 7), asio::any_completion_handler<void(error_code, std::size_t)>{
                                        asio::bind_executor(other.get_executor(), handler)});
    CHECK(written == 7);
    world.io.restart();
    world.io.poll();
    CHECK(other.poll() == 1);
    CHECK(written == 14);
    CHECK(world.io.poll() == 0);
}

TEST_CASE_TEMPLATE(
    "handlers of one type for all calls: any_completion_handler", World, socket_world, split_world)
{
    using done = asio::any_completion_handler<void(error_code)>;
    using moved = asio::any_completion_handler<void(error_code, std::size_t)>;
    World world;
    both_ends<World> ends{world};
    spawn(world, echo(ends.server));
    std::string const sent = text_of(5'000);
    std::string got(sent.size(), '\0');
    int ended = 0;
    auto shut_down = [&](error_code ec, std::size_t n) {
        CHECK(!ec);
        CHECK(n == got.size());
        ends.client.async_shutdown(done{[&](error_code ec_of_shutdown) {
            CHECK(!ec_of_shutdown);
            ++ended;
        }});
    };
    auto read = [&](error_code ec, std::size_t n) {
        CHECK(!ec);
        CHECK(n == sent.size());
        asio::async_read(ends.client, asio::buffer(got), moved{shut_down});
    };
    auto write = [&](error_code ec) {
        CHECK(!ec);
        ends.client.async_write_some(asio::buffer(sent), moved{read});
    };
    ends.client.async_handshake(stream_base::client, done{write});
    world.run();
    CHECK(got == sent);
    CHECK(ended == 1);
}

TEST_CASE_TEMPLATE(
    "an echo from handshake to close", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> ends{world};
    spawn(world, echo(ends.server));
    spawn(world, [](auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        CHECK(client.info().alpn == "echo/1");
        CHECK(client.info().version == "TLSv1.3");
        std::string const sent = text_of(100'000);
        std::string got(sent.size(), '\0');
        for (std::size_t i = 0; i < sent.size(); i += 20'000) {
            co_await asio::async_write(
                client, asio::buffer(sent.data() + i, 20'000), asio::use_awaitable);
            co_await asio::async_read(
                client, asio::buffer(got.data() + i, 20'000), asio::use_awaitable);
        }
        CHECK(got == sent);
        co_await shut_down(client);
    }(ends.client));
    world.run();
    CHECK(ends.server.info().server_name == "cleat.example");
}

TEST_CASE("a stream takes its bytes one at a time")
{
    split_world world;
    both_ends<split_world> ends{world};
    ends.server.next_layer().size_max = 1;
    ends.client.next_layer().size_max = 1;
    spawn(world, echo(ends.server));
    spawn(world, [](auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        std::string got(5, '\0');
        co_await asio::async_write(client, asio::buffer("hello", 5), asio::use_awaitable);
        co_await asio::async_read(client, asio::buffer(got), asio::use_awaitable);
        CHECK(got == "hello");
        co_await shut_down(client);
    }(ends.client));
    world.run();
}

TEST_CASE_TEMPLATE(
    "ten megabytes go both ways at once", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> ends{world};
    static std::string const sent = text_of(10'000'000);
    auto const write_all = [](auto& s) -> asio::awaitable<void> {
        std::size_t done = 0;
        while (done < sent.size())
            done += co_await s.async_write_some(
                asio::buffer(sent.data() + done, sent.size() - done), asio::use_awaitable);
    };
    auto const read_all = [](auto& s, std::size_t block) -> asio::awaitable<void> {
        std::string got(sent.size(), '\0');
        std::size_t done = 0;
        while (done < got.size())
            done += co_await s.async_read_some(
                asio::buffer(got.data() + done, std::min(block, got.size() - done)),
                asio::use_awaitable);
        CHECK(got == sent);
    };
    auto const both_ways = [&](auto& s, stream_base::handshake_type role,
                               std::size_t block) -> asio::awaitable<void> {
        co_await handshake(s, role);
        spawn(world, write_all(s));
        spawn(world, read_all(s, block));
    };
    spawn(world, both_ways(ends.server, stream_base::server, 3'000));
    spawn(world, both_ways(ends.client, stream_base::client, 1'000'000));
    world.run();
}

TEST_CASE_TEMPLATE("one read fills several buffers", World, socket_world, split_world)
{
    World world;
    both_ends<World> ends{world};
    spawn(world, echo(ends.server));
    spawn(world, [](auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        co_await asio::async_write(
            client, asio::buffer("header and body", 15), asio::use_awaitable);
        std::string a(7, '\0'), b, c(100, '\0');
        std::array<asio::mutable_buffer, 3> const buffers{
            asio::buffer(a), asio::buffer(b), asio::buffer(c)};
        std::size_t const n = co_await client.async_read_some(buffers, asio::use_awaitable);
        CHECK(n == 15);
        CHECK(a == "header ");
        CHECK(c.substr(0, 8) == "and body");
        co_await shut_down(client);
    }(ends.client));
    world.run();
}

TEST_CASE_TEMPLATE("empty buffers complete at once", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> ends{world};
    spawn(world, echo(ends.server));
    spawn(world, [](auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        CHECK(co_await client.async_read_some(asio::mutable_buffer{}, asio::use_awaitable) == 0);
        CHECK(co_await client.async_write_some(asio::const_buffer{}, asio::use_awaitable) == 0);
        co_await shut_down(client);
    }(ends.client));
    world.run();
}

TEST_CASE_TEMPLATE(
    "an operation never completes inside its own start", World, socket_world, split_world)
{
    World world;
    both_ends<World> ends{world};
    bool inside = true;
    int completed = 0;
    auto const done = [&](error_code ec, std::size_t) {
        CHECK(!inside);
        CHECK(ec == error::no_handshake);
        ++completed;
    };
    char byte = 'x';
    ends.client.async_read_some(asio::buffer(&byte, 1), done);
    ends.client.async_write_some(asio::buffer(&byte, 1), done);
    ends.client.async_shutdown([&](error_code ec) { done(ec, 0); });
    inside = false;
    world.run();
    CHECK(completed == 3);
}

TEST_CASE("a handshake in the other role is refused, and the error says what to change")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    ends.client.async_handshake(tls::role::server, [](error_code ec) {
        CHECK(ec == error::wrong_role);
        CHECK(ec == boost::system::errc::invalid_argument);
        CHECK(ec.message().find("tls_server") != std::string::npos);
    });
    world.run();
}

TEST_CASE_TEMPLATE(
    "FIN without close_notify is a truncation", World, socket_world, split_world, worker_world)
{
    World world;
    both_ends<World> ends{world};
    spawn(world, [](auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        co_await asio::async_write(client, asio::buffer("half", 4), asio::use_awaitable);
        ::shutdown(client.lowest_layer().native_handle(), SHUT_WR);
    }(ends.client));
    spawn(world, [](auto& server) -> asio::awaitable<void> {
        co_await handshake(server, stream_base::server);
        std::string got(100, '\0');
        auto const [ec, n] = co_await asio::async_read(server, asio::buffer(got), as_result);
        CHECK(n == 4);
        CHECK(ec == error::truncated);
        auto const [again, none] = co_await server.async_read_some(asio::buffer(got), as_result);
        CHECK(none == 0);
        CHECK(again == error::truncated);
    }(ends.server));
    world.run();
}

TEST_CASE_TEMPLATE(
    "one side closes and still reads the answer", World, socket_world, split_world, worker_world)
{
    // A shutdown that begins while a read is pending leaves the data to the read.
    World world;
    both_ends<World> ends{world};
    spawn(world, [](World& loop, auto& client) -> asio::awaitable<void> {
        co_await handshake(client, stream_base::client);
        co_await asio::async_write(client, asio::buffer("question", 8), asio::use_awaitable);
        spawn(loop, [](auto& s) -> asio::awaitable<void> {
            std::string got(100, '\0');
            auto const [ec, n] = co_await asio::async_read(s, asio::buffer(got), as_result);
            CHECK(ec == asio::error::eof);
            CHECK(got.substr(0, n) == "answer");
        }(client));
        co_await asio::post(asio::use_awaitable); // The read has begun.
        co_await shut_down(client);
    }(world, ends.client));
    spawn(world, [](auto& server) -> asio::awaitable<void> {
        co_await handshake(server, stream_base::server);
        std::string got(100, '\0');
        auto const [ec, n] = co_await asio::async_read(server, asio::buffer(got), as_result);
        CHECK(ec == asio::error::eof);
        CHECK(n == 8);
        co_await asio::async_write(server, asio::buffer("answer", 6), asio::use_awaitable);
        co_await shut_down(server);
    }(ends.server));
    world.run();
}

TEST_CASE_TEMPLATE(
    "garbage instead of a handshake is answered with an alert", World, socket_world, split_world)
{
    World world;
    auto sockets = world.sockets();
    stream<typename World::stream_type::next_layer_type> server{
        both_ends<World>::layer(std::move(sockets.first)), contexts().server};
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        auto const [ec] = co_await s.async_handshake(stream_base::server, as_result);
        CHECK(ec == error::http_request);
        s.lowest_layer().close();
    }(server));
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        std::string const request = "GET / HTTP/1.1\r\nHost: cleat.example\r\n\r\n";
        co_await asio::async_write(s, asio::buffer(request), asio::use_awaitable);
        std::string got(100, '\0');
        auto const [ec, n] = co_await asio::async_read(s, asio::buffer(got), as_result);
        CHECK(n <= 7); // An alert where the library sends one for it.
    }(sockets.second));
    world.run();
}

TEST_CASE("a TLS stream carries another")
{
    socket_world world;
    auto sockets = world.sockets();
    using inner = stream<asio::local::stream_protocol::socket>;
    stream<inner> server{inner{std::move(sockets.first), contexts().server}, contexts().server};
    stream<inner> client{inner{std::move(sockets.second), contexts().client}, contexts().client};
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        co_await handshake(s.next_layer(), stream_base::server);
        co_await echo(s);
    }(server));
    spawn(world, [](auto& s) -> asio::awaitable<void> {
        co_await handshake(s.next_layer(), stream_base::client);
        co_await handshake(s, stream_base::client);
        std::string const sent = text_of(50'000);
        std::string got(sent.size(), '\0');
        co_await asio::async_write(s, asio::buffer(sent), asio::use_awaitable);
        co_await asio::async_read(s, asio::buffer(got), asio::use_awaitable);
        CHECK(got == sent);
        co_await shut_down(s);
    }(client));
    world.run();
}

TEST_CASE("a handler that the caller keeps is copied, as Asio does")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    auto& server = ends.server;
    auto& client = ends.client;
    std::string done;
    std::function<void(error_code)> ended = [&](error_code ec) { done += ec ? 'x' : 'h'; };
    std::function<void(error_code, std::size_t)> moved = [&](error_code ec, std::size_t n) {
        done += ec || n != 1 ? 'x' : 'b';
    };
    server.async_handshake(stream_base::server, ended);
    client.async_handshake(stream_base::client, ended);
    world.run();
    std::array<char, 1> byte{'b'};
    client.async_write_some(asio::buffer(byte), moved);
    server.async_read_some(asio::buffer(byte), moved);
    world.run();
    server.async_shutdown(ended);
    client.async_shutdown(ended);
    world.run();
    CHECK(done == "hhbbhh");
    CHECK(ended);
    CHECK(moved);
}

TEST_CASE("a moved stream goes on")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    spawn(world, echo(ends.server));
    spawn(world, [](auto& first) -> asio::awaitable<void> {
        co_await handshake(first, stream_base::client);
        auto second = std::move(first);
        co_await asio::async_write(second, asio::buffer("moved", 5), asio::use_awaitable);
        std::string got(5, '\0');
        co_await asio::async_read(second, asio::buffer(got), asio::use_awaitable);
        CHECK(got == "moved");
        first = std::move(second);
        co_await shut_down(first);
    }(ends.client));
    world.run();
}

TEST_CASE_TEMPLATE("blocking threads, and futures", World, socket_world, split_world)
{
    World world;
    both_ends<World> ends{world};
    std::thread blocking{[&] {
        ends.server.handshake(stream_base::server);
        std::string block(1000, '\0');
        for (;;) {
            error_code ec;
            std::size_t const n = ends.server.read_some(asio::buffer(block), ec);
            if (ec)
                break;
            asio::write(ends.server, asio::buffer(block, n));
        }
        ends.server.shutdown();
    }};
    auto const running = asio::make_work_guard(world.io);
    std::thread loop{[&] { world.io.run(); }};
    ends.client.async_handshake(stream_base::client, asio::use_future).get();
    std::string const sent = text_of(5'000);
    std::string got(sent.size(), '\0');
    std::future<std::size_t> const writing =
        asio::async_write(ends.client, asio::buffer(sent), asio::use_future);
    CHECK(asio::async_read(ends.client, asio::buffer(got), asio::use_future).get() == sent.size());
    CHECK(got == sent);
    writing.wait();
    ends.client.async_shutdown(asio::use_future).get();
    world.io.stop();
    loop.join();
    blocking.join();
}

TEST_CASE("a stream's engine has the calls for which the stream has no function")
{
    socket_world world;
    both_ends<socket_world> ends{world};
    tls::ja4_fingerprint found;
    ends.server.engine().fingerprint_client(found);
    spawn(world, handshake(ends.server, stream_base::server));
    spawn(world, handshake(ends.client, stream_base::client));
    world.run();
    CHECK(found.text().substr(0, 3) == "t13");
}

} // namespace cleat::net::stream_test
