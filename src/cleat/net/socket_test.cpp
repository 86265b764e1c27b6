#include <cleat/net/socket.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::net::socket_test {
namespace asio = boost::asio;
namespace {

struct pair_of_sockets
{
    explicit pair_of_sockets(worker& owner, socket_kind kind = socket_kind::unix_pair)
        : pair_of_sockets{owner, make_sockets(kind)}
    {
    }
    pair_of_sockets(worker& owner, std::pair<unique_fd, unique_fd> fds)
        : near{owner, std::move(fds.first)}, far{owner, std::move(fds.second)}
    {
    }
    socket near;
    socket far;
};

TEST_CASE("bytes, waiting, the end and an error are four different answers")
{
    worker w;
    pair_of_sockets s{w, socket_kind::tcp};
    std::array<std::byte, 16> buffer{};
    io_result r = s.near.receive(buffer);
    CHECK(r.would_block);
    CHECK(!r.error);
    CHECK(s.far.send(bytes_of("hi")).bytes == 2);
    r = s.near.receive(buffer);
    CHECK(r.bytes == 2);
    CHECK(!r.would_block);
    r = s.near.receive({});
    CHECK(!r.error); // No bytes for an empty buffer are no end.
    s.far.shutdown_send();
    r = s.near.receive(buffer);
    CHECK(r.error == error::closed);
    CHECK(s.near.send(bytes_of("still")).bytes == 5);
    s.far.reset();
    CHECK(!s.far.is_open());
    CHECK(s.far.native_handle() == -1);
    CHECK(s.near.send(bytes_of("x")).error == boost::system::errc::broken_pipe);
}

TEST_CASE("a reset is an error, not the end")
{
    worker w;
    pair_of_sockets s{w, socket_kind::tcp};
    s.far.reset();
    std::array<std::byte, 16> buffer{};
    CHECK(s.near.receive(buffer).error == boost::system::errc::connection_reset);
    s.far.reset(); // A second reset does nothing.
}

TEST_CASE("a full socket takes a part, and then nothing")
{
    worker w;
    pair_of_sockets s{w};
    std::vector<std::byte> const data = pattern(4'000'000);
    io_result const part = s.near.send(data);
    CHECK(part.bytes > 0);
    CHECK(part.bytes < data.size());
    fill(s.near.native_handle());
    CHECK(s.near.send(data).would_block);
}

TEST_CASE("asio::async_read and async_write move any amount between two of our sockets")
{
    worker w;
    pair_of_sockets s{w};
    std::vector<std::byte> const data = pattern(3'000'000);
    std::vector<std::byte> got(data.size());
    auto const sender = [&]() -> asio::awaitable<void> {
        co_await asio::async_write(s.near, asio::buffer(data), asio::use_awaitable);
        s.near.shutdown_send();
    };
    auto const receiver = [&]() -> asio::awaitable<void> {
        std::size_t const n =
            co_await asio::async_read(s.far, asio::buffer(got), asio::use_awaitable);
        CHECK(n == data.size());
        error_code ec;
        std::array<std::byte, 1> more{};
        co_await s.far.async_read_some(
            asio::buffer(more), asio::redirect_error(asio::use_awaitable, ec));
        CHECK(ec == asio::error::eof);
        w.stop();
    };
    asio::co_spawn(w.get_executor(), sender, asio::detached);
    asio::co_spawn(w.get_executor(), receiver, asio::detached);
    w.run();
    CHECK(got == data);
}

TEST_CASE("an empty buffer completes at once, and never inside the call")
{
    worker w;
    pair_of_sockets s{w};
    int done = 0;
    auto handler = [&](error_code ec, std::size_t n) {
        CHECK(!ec);
        CHECK(n == 0);
        if (++done == 2)
            w.stop();
    };
    asio::post(w.get_executor(), [&] {
        s.near.async_read_some(asio::mutable_buffer{}, handler);
        s.near.async_write_some(
            asio::const_buffer{},
            asio::any_completion_handler<void(error_code, std::size_t)>{handler});
        CHECK(done == 0);
    });
    w.run();
    CHECK(done == 2);
}

// Runs a coroutine that may hang. True if it ended within 2 s.
template <class Scenario>
bool ends_in_time(worker& w, Scenario scenario)
{
    struct time_limit : deadline
    {
        explicit time_limit(worker& owner)
            : deadline{[](deadline& d) noexcept { static_cast<time_limit&>(d).target.stop(); }}
            , target{owner}
        {
        }
        worker& target;
    } limit{w};
    bool done = false;
    w.arm(limit, std::chrono::seconds{2});
    asio::co_spawn(w.get_executor(), std::move(scenario), [&](std::exception_ptr thrown) {
        done = !thrown;
        w.stop();
    });
    w.run();
    return done;
}

TEST_CASE("a wait to read ends where a receive has left something")
{
    bool ends = false;
    SUBCASE("more bytes, because its buffer was full") {}
    SUBCASE("the end, which came with the bytes")
    {
        ends = true;
    }
    worker w;
    pair_of_sockets s{w, socket_kind::tcp};
    CHECK(s.far.send(bytes_of("12345678")).bytes == 8);
    if (ends)
        s.far.shutdown_send();
    auto const scenario = [&]() -> asio::awaitable<void> {
        co_await s.near.async_wait(socket::wait_read, asio::use_awaitable);
        std::array<std::byte, 32> buffer{};
        std::span<std::byte> const most = std::span{buffer}.first(ends ? 32 : 5);
        CHECK(s.near.receive(most).bytes == (ends ? 8 : 5));
        co_await s.near.async_wait(socket::wait_read, asio::use_awaitable);
        io_result const r = s.near.receive(buffer);
        CHECK(r.bytes == (ends ? 0 : 3));
        CHECK((r.error == error::closed) == ends);
    };
    CHECK(ends_in_time(w, scenario));
}

TEST_CASE("a wait to write ends where a send was taken whole")
{
    worker w;
    pair_of_sockets s{w};
    fill(s.near.native_handle());
    CHECK(s.near.send(bytes_of("x")).would_block);
    auto const scenario = [&]() -> asio::awaitable<void> {
        drain(s.far.native_handle());
        co_await s.near.async_wait(socket::wait_write, asio::use_awaitable);
        CHECK(s.near.send(bytes_of("x")).bytes == 1);
        co_await s.near.async_wait(socket::wait_write, asio::use_awaitable);
    };
    CHECK(ends_in_time(w, scenario));
}

TEST_CASE("a wait can be cancelled, alone and with its socket")
{
    worker w;
    pair_of_sockets s{w};
    std::vector<error_code> seen;
    auto const note = [&](error_code ec) {
        seen.push_back(ec);
        if (seen.size() == 1)
            s.near.cancel();
        if (seen.size() == 3)
            w.stop();
    };
    asio::cancellation_signal signal;
    s.near.async_wait(socket::wait_read, asio::bind_cancellation_slot(signal.slot(), note));
    signal.emit(asio::cancellation_type::terminal);
    signal.emit(asio::cancellation_type::terminal); // No wait is left.
    fill(s.near.native_handle());
    s.near.async_wait(socket::wait_read, note);
    s.near.async_wait(socket::wait_write, note);
    w.run();
    CHECK(seen == std::vector<error_code>(3, asio::error::operation_aborted));
}

TEST_CASE("waits end when their socket is destroyed, or another is moved into its place")
{
    worker w;
    auto s = std::make_unique<pair_of_sockets>(w);
    pair_of_sockets other{w};
    std::vector<error_code> seen;
    auto const note = [&](error_code ec) {
        seen.push_back(ec);
        if (seen.size() == 2)
            w.stop();
    };
    s->near.async_wait(socket::wait_read, note);
    s->far.async_wait(socket::wait_read, note);
    s->far = std::move(other.far);
    s.reset();
    w.run();
    CHECK(seen == std::vector<error_code>(2, asio::error::operation_aborted));
}

TEST_CASE("a socket that was moved away keeps its waits")
{
    worker w;
    pair_of_sockets s{w};
    bool woken = false;
    s.near.async_wait(socket::wait_read, [&](error_code ec) {
        CHECK(!ec);
        woken = true;
        w.stop();
    });
    socket const elsewhere = std::move(s.near);
    CHECK(s.far.send(bytes_of("x")).bytes == 1);
    w.run();
    CHECK(woken);
    CHECK(elsewhere.is_open());
    CHECK(!s.near.is_open());
}

TEST_CASE("a coroutine that waits for its socket is destroyed with its worker")
{
    auto const token = std::make_shared<int>(0);
    auto fds = make_sockets(socket_kind::unix_pair);
    {
        worker w;
        auto const scenario =
            [&w](socket mine, std::shared_ptr<int> held) -> asio::awaitable<void> {
            std::array<std::byte, 8> buffer{};
            w.stop();
            co_await mine.async_read_some(asio::buffer(buffer), asio::use_awaitable);
            ++*held;
        };
        asio::co_spawn(
            w.get_executor(), scenario(socket{w, std::move(fds.first)}, token), asio::detached);
        w.run();
    }
    CHECK(*token == 0);
    CHECK(token.use_count() == 1);
    std::array<char, 8> buffer{};
    CHECK(::recv(fds.second.get(), buffer.data(), buffer.size(), 0) == 0); // Its peer got FIN.
}

} // namespace
} // namespace cleat::net::socket_test
