// A server on threads of its own, and blocking clients.

#include <cleat/net/server.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <future>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;

namespace cleat::net::server_test {
namespace {

tls::context_spec server_tls()
{
    static tls::test_identity const identity = tls::make_identity({.names = {"cleat.example"}});
    tls::context_spec spec;
    spec.certificates.push_back(identity.source("test"));
    spec.alpn = {"echo/1"};
    return spec;
}

tls::context& anyone()
{
    static tls::context client = [] {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.server_name = "cleat.example";
        spec.alpn = {"echo/1"};
        return tls::context{spec};
    }();
    return client;
}

asio::awaitable<void> echo(connection c)
{
    std::string block(1000, '\0');
    for (;;) {
        auto const [ec, n] = co_await c.stream.async_read_some(
            asio::buffer(block), asio::as_tuple(asio::use_awaitable));
        if (ec == asio::error::eof)
            break;
        if (ec)
            throw boost::system::system_error{ec};
        co_await asio::async_write(c.stream, asio::buffer(block, n), asio::use_awaitable);
    }
    co_await c.stream.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> count_to_three(connection c, int& count, std::promise<int>& total)
{
    if (++count == 3)
        total.set_value(count);
    co_await c.stream.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> wait_for_ever(connection c, std::promise<void>& waits)
{
    asio::steady_timer never{c.stream.get_executor(), asio::steady_timer::time_point::max()};
    waits.set_value();
    co_await never.async_wait(asio::use_awaitable);
}

asio::awaitable<void> check_facts(connection c, std::promise<std::string>& peer_text)
{
    facts const& f = c.facts;
    CHECK(f.worker == 0);
    CHECK(f.local.port() != 0);
    CHECK(f.tls.server_name == "cleat.example");
    CHECK(f.tls.alpn == "echo/1");
    CHECK(f.tls.version == "TLSv1.3");
    CHECK(!f.tls.cipher.empty());
    CHECK(!f.tls.group.empty());
    CHECK(!f.tls.resumed);
    peer_text.set_value(to_string(f.peer));
    co_await c.stream.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> echo_but_once(connection c, bool& first)
{
    if (std::exchange(first, false))
        throw std::runtime_error{"no such page"};
    co_await echo(std::move(c));
}

server_spec spec_of(std::size_t workers)
{
    server_spec spec;
    spec.tls = server_tls();
    spec.workers = workers;
    return spec;
}

struct client
{
    explicit client(
        server const& target, asio::ip::address const& host = asio::ip::address_v4::loopback())
        : io{1}, stream{tcp::socket{io}, anyone()}
    {
        stream.next_layer().connect({host, static_cast<unsigned short>(target.port())});
    }

    std::string ask(std::string const& text)
    {
        asio::write(stream, asio::buffer(text));
        std::string got(text.size(), '\0');
        asio::read(stream, asio::buffer(got));
        return got;
    }

    asio::io_context io;
    net::stream<tcp::socket> stream;
};

} // namespace

TEST_CASE("a server on two workers echoes, and each connection stays on one")
{
    server_spec spec = spec_of(2);
    server one{std::move(spec), echo};
    CHECK(one.port() != 0);
    CHECK(one.workers().size() == 2);
    std::vector<std::unique_ptr<client>> all;
    for (int i = 0; i < 40; ++i) {
        all.push_back(std::make_unique<client>(one));
        all.back()->stream.handshake(stream_base::client);
    }
    for (auto const& each : all)
        CHECK(each->ask("hello") == "hello");
    CHECK(one.workers().busy() == 40);
    for (auto const& each : all)
        each->stream.shutdown();
    all.clear();
    CHECK(one.drain(std::chrono::seconds{10}) == 0);
}

TEST_CASE("facts have the peer's address and the result of the handshake")
{
    std::promise<std::string> peer_text;
    server one{
        spec_of(1), [&peer_text](connection c) { return check_facts(std::move(c), peer_text); }};
    client c{one};
    c.stream.handshake(stream_base::client);
    c.stream.shutdown();
    CHECK(
        peer_text.get_future().get() ==
        "127.0.0.1:" + std::to_string(c.stream.next_layer().local_endpoint().port()));
}

TEST_CASE("each worker has state of its own, made on its thread")
{
    std::promise<int> total;
    std::thread::id const test_thread = std::this_thread::get_id();
    {
        server one{spec_of(1), handler_for{[&](worker& owner) -> handler {
                       CHECK(std::this_thread::get_id() != test_thread);
                       CHECK(owner.number() == 0);
                       return [count = std::make_shared<int>(0), &total](connection c) {
                           return count_to_three(std::move(c), *count, total);
                       };
                   }}};
        for (int i = 0; i < 3; ++i) {
            client c{one};
            c.stream.handshake(stream_base::client);
            c.stream.shutdown();
        }
        CHECK(total.get_future().get() == 3);
    }
}

TEST_CASE("a peer that is silent misses its deadline")
{
    server_spec spec = spec_of(1);
    spec.handshake_timeout = std::chrono::milliseconds{20};
    spec.socket.defer_accept = false;
    std::promise<error_code> reported;
    spec.on_failure = [&](connection_failure const& f) {
        CHECK(f.in_handshake);
        CHECK(f.peer.port() != 0);
        reported.set_value(f.error);
    };
    server one{std::move(spec), echo};
    client c{one};
    CHECK(reported.get_future().get() == error::handshake_timeout);
    char byte = 0;
    error_code ec;
    CHECK(c.stream.next_layer().read_some(asio::buffer(&byte, 1), ec) == 0);
    CHECK(ec == asio::error::eof);
}

TEST_CASE("plain HTTP on a TLS port is error::http_request")
{
    server_spec spec = spec_of(1);
    std::promise<error_code> reported;
    spec.on_failure = [&](connection_failure const& f) { reported.set_value(f.error); };
    server one{std::move(spec), echo};
    client c{one};
    asio::write(c.stream.next_layer(), asio::buffer(std::string{"GET / HTTP/1.0\r\n\r\n"}));
    CHECK(reported.get_future().get() == error::http_request);
}

TEST_CASE("an exception of a handler is reported, and its server goes on")
{
    server_spec spec = spec_of(1);
    std::promise<std::pair<error_code, std::string>> reported;
    spec.on_failure = [&](connection_failure const& f) {
        CHECK(!f.in_handshake);
        reported.set_value({f.error, std::string{f.reason}});
    };
    bool first = true;
    server one{
        std::move(spec), [&first](connection c) { return echo_but_once(std::move(c), first); }};
    client unlucky{one};
    unlucky.stream.handshake(stream_base::client);
    auto const [ec, reason] = reported.get_future().get();
    CHECK(ec == error::handler_exception); // Not error::library: TLS has not failed.
    CHECK(reason == "no such page");
    reported = {};
    client c{one};
    c.stream.handshake(stream_base::client);
    CHECK(c.ask("next") == "next");
}

TEST_CASE("the code and the text of a handler's system_error are reported")
{
    server_spec spec = spec_of(1);
    std::promise<std::pair<error_code, std::string>> reported;
    spec.on_failure = [&](connection_failure const& f) {
        reported.set_value({f.error, std::string{f.reason}});
    };
    server one{std::move(spec), [](connection) -> asio::awaitable<void> {
                   throw boost::system::system_error{asio::error::timed_out, "the database"};
                   co_return;
               }};
    client c{one};
    c.stream.handshake(stream_base::client);
    auto const [ec, reason] = reported.get_future().get();
    CHECK(ec == asio::error::timed_out);
    CHECK(reason.find("the database") == 0);
}

TEST_CASE("a drain lets a connection finish, and takes no more")
{
    server one{spec_of(2), echo};
    client c{one};
    c.stream.handshake(stream_base::client);
    CHECK(c.ask("before") == "before");
    std::future<std::size_t> left =
        std::async(std::launch::async, [&] { return one.drain(std::chrono::minutes{1}); });
    // Connections are refused once every worker has closed its socket. Until then one may still be
    // accepted, or reset.
    error_code ec;
    while (ec != asio::error::connection_refused) {
        tcp::socket late{c.io};
        static_cast<void>(late.connect(c.stream.next_layer().remote_endpoint(), ec));
    }
    CHECK(c.ask("still") == "still");
    c.stream.shutdown();
    CHECK(left.get() == 0);
}

TEST_CASE("a drain's deadline cuts off connections that stay")
{
    server one{spec_of(1), echo};
    client c{one};
    c.stream.handshake(stream_base::client);
    CHECK(c.ask("here") == "here");
    CHECK(one.drain(std::chrono::milliseconds{10}) == 1);
    char byte = 0;
    error_code ec;
    CHECK(c.stream.read_some(asio::buffer(&byte, 1), ec) == 0);
    CHECK(ec == error::truncated);
}

TEST_CASE("a stop ends handlers wherever they wait")
{
    server_spec spec = spec_of(1);
    std::promise<void> waits;
    std::promise<error_code> reported;
    spec.on_failure = [&](connection_failure const& f) { reported.set_value(f.error); };
    server one{std::move(spec), [&](connection c) { return wait_for_ever(std::move(c), waits); }};
    client c{one};
    c.stream.handshake(stream_base::client);
    waits.get_future().wait();
    one.stop();
    CHECK(reported.get_future().get() == asio::error::operation_aborted);
}

TEST_CASE("a program whose Asio has operations of another size throws before any thread starts")
{
    // As with BOOST_ASIO_ENABLE_HANDLER_TRACKING in the program, and not in cleat's build.
    server_spec spec;
    spec.tls = server_tls();
    CHECK_THROWS_WITH(
        (server{std::move(spec), echo, asio_operation_size + 8}),
        "this program and cleat were compiled with different settings of Boost.Asio, such as "
        "BOOST_ASIO_ENABLE_HANDLER_TRACKING: compile both with the same");
}

TEST_CASE("a spec that cannot be served throws before any thread starts")
{
    server_spec no_certificate;
    no_certificate.workers = 1;
    CHECK_THROWS_AS((server{no_certificate, echo}), tls::spec_error);

    server_spec nowhere = spec_of(1);
    nowhere.listen = "127.0.0.1";
    CHECK_THROWS_AS((server{nowhere, echo}), std::invalid_argument);

    server_spec foreign = spec_of(1);
    foreign.listen = "192.0.2.1:0"; // RFC 5737: no machine has it.
    CHECK_THROWS_AS((server{foreign, echo}), std::system_error);

    asio::io_context io;
    tcp::acceptor taken{io, {asio::ip::address_v4::loopback(), 0}};
    server_spec twice = spec_of(1);
    twice.listen = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
    CHECK_THROWS_AS((server{twice, echo}), std::system_error);

    CHECK_THROWS_WITH(
        (server{spec_of(2), handler_for{[](worker&) -> handler {
                    throw std::runtime_error{"no state"};
                }}}),
        "no state");
}

TEST_CASE("a second server does not share the port of the first")
{
    server const first{spec_of(2), echo};
    server_spec same = spec_of(2);
    same.listen = "127.0.0.1:" + std::to_string(first.port());
    std::error_code reported;
    try {
        server const second{same, echo};
    } catch (std::system_error const& e) {
        reported = e.code();
    }
    CHECK(reported == std::errc::address_in_use);
}

TEST_CASE("a server on every address is reached by both families")
{
    server_spec spec = spec_of(2);
    spec.listen = "*:0";
    std::array<std::promise<std::string>, 2> local; // Of IPv4 and of IPv6.
    server one{std::move(spec), [&local](connection c) {
                   local[c.facts.local.family() == AF_INET6].set_value(to_string(c.facts.local));
                   return echo(std::move(c));
               }};
    std::string const port = std::to_string(one.port());
    for (address const& each : one.local_addresses()) {
        CHECK(each.port() == one.port());
        bool const six = each.family() == AF_INET6;
        client c{
            one, six ? asio::ip::address{asio::ip::address_v6::loopback()}
                     : asio::ip::address{asio::ip::address_v4::loopback()}};
        c.stream.handshake(stream_base::client);
        CHECK(c.ask("hello") == "hello");
        CHECK(local[six].get_future().get() == (six ? "[::1]:" : "127.0.0.1:") + port);
        c.stream.shutdown();
    }
}

TEST_CASE("broadcasts reach every worker in order")
{
    worker_pool pool{{.workers = 3, .pin = false}};
    std::vector<std::vector<int>> received(3);
    for (int i = 0; i < 100; ++i)
        pool.broadcast([&received, i](worker& each) { received[each.number()].push_back(i); });
    CHECK(pool.busy() == 0); // Its functions are queued behind the broadcasts.
    for (std::vector<int> const& each : received) {
        REQUIRE(each.size() == 100);
        CHECK(std::is_sorted(each.begin(), each.end()));
    }
    pool.stop();
    pool.stop();
    CHECK(pool.busy() == 0);
}

} // namespace cleat::net::server_test
