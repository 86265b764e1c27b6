// A server with several listeners, UNIX sockets, and sockets that others have made.

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/worlds_for_tests.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <sys/socket.h>

namespace asio = boost::asio;
using asio::ip::tcp;
using unix_protocol = asio::local::stream_protocol;

namespace cleat::net::server_listeners_test {
namespace {

tls::context_spec tls_for(std::string const& name)
{
    tls::context_spec spec;
    spec.certificates = {tls::make_identity({.names = {name}}).source(name)};
    return spec;
}

// Says which listener has accepted the connection.
asio::awaitable<void> say_listener(connection c)
{
    std::string const said = std::to_string(c.facts.listener);
    co_await asio::async_write(c.stream, asio::buffer(said), asio::use_awaitable);
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

tls::context& anyone()
{
    static tls::context client = [] {
        tls::context_spec spec;
        spec.role = tls::role::client;
        return tls::context{spec};
    }();
    return client;
}

struct answer
{
    std::string text;
    std::string name; // The certificate's.
};

template <class Socket>
answer ask(Socket connected)
{
    net::stream<Socket> stream{std::move(connected), anyone()};
    stream.handshake(stream_base::client);
    std::string text;
    error_code ec;
    asio::read(stream, asio::dynamic_buffer(text), ec);
    CHECK(ec == asio::error::eof);
    return {text, stream.engine().peer_common_name()};
}

answer ask_port(unsigned port)
{
    asio::io_context io{1};
    tcp::socket socket{io};
    socket.connect({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)});
    return ask(std::move(socket));
}

answer ask_path(std::string const& path)
{
    asio::io_context io{1};
    unix_protocol::socket socket{io};
    socket.connect({path});
    return ask(std::move(socket));
}

server_spec spec_on(std::string listen)
{
    server_spec spec;
    spec.listen = std::move(listen);
    spec.workers = 2;
    spec.tls = tls_for("first.example");
    return spec;
}

tls::context_spec named(std::string const& common_name)
{
    tls::context_spec spec;
    spec.certificates = {
        tls::make_identity({.names = {"a.test"}, .common_name = common_name}).source("test")};
    return spec;
}

} // namespace

TEST_CASE("each listener has its certificates, or the server's, and a reload "
          "of its own")
{
    server_spec spec = spec_on("127.0.0.1:0");
    spec.tls = named("server's");
    spec.listeners.push_back({.listen = "127.0.0.1:0", .tls = named("second's")});
    spec.listeners.push_back({.listen = "127.0.0.1:0"});
    server one{std::move(spec), say_listener};
    std::vector<address> const& places = one.local_addresses();
    REQUIRE(places.size() == 3);
    auto const check = [&](std::size_t place, std::string const& name) {
        answer const got = ask_port(places[place].port());
        CHECK(got.text == std::to_string(place));
        CHECK(got.name == name);
    };
    check(0, "server's");
    check(1, "second's");
    check(2, "server's");
    one.reload(named("renewed"), 1);
    check(0, "server's");
    check(1, "renewed");
    one.reload(named("newer"));
    check(0, "newer");
    check(1, "renewed");
    check(2, "newer");
    CHECK_THROWS_AS(one.reload(named("none"), 2), std::invalid_argument);
    CHECK_THROWS_AS(one.reload(named("none"), 3), std::invalid_argument);
}

TEST_CASE("a wrong listener throws before any thread starts")
{
    server_spec spec = spec_on("127.0.0.1:0");
    spec.listeners.push_back({.listen = "127.0.0.1:0", .tls = tls::context_spec{}});
    CHECK_THROWS_AS((server{spec, say_listener}), tls::spec_error);
    spec.listeners.front() = {.listen = "127.0.0.1"};
    CHECK_THROWS_AS((server{spec, say_listener}), std::invalid_argument);
}

TEST_CASE("a server listens on a UNIX socket, and replaces the file of one "
          "that has ended")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "site.sock";
    for (int i = 0; i != 2; ++i) {
        if (i == 1) {
            asio::io_context io{1};
            unix_protocol::acceptor const ends{io, {path}}; // Its file stays.
        }
        server one{spec_on("unix:" + path), say_listener};
        CHECK(one.port() == 0);
        CHECK(to_string(one.local_address()) == "unix:" + path);
        for (int j = 0; j != 10; ++j)
            CHECK(ask_path(path).text == "0");
        CHECK_THROWS_AS((server{spec_on("unix:" + path), say_listener}), std::system_error);
        CHECK(ask_path(path).text == "0");
    }
    CHECK_THROWS_AS(
        (server{spec_on("unix:" + std::string(200, 'x')), say_listener}), std::system_error);
}

TEST_CASE("the file of a UNIX socket ends with its server")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "site.sock";
    {
        server const one{spec_on("unix:" + path), say_listener};
        CHECK(std::filesystem::is_socket(path));
    }
    CHECK(!std::filesystem::exists(path));

    server one{spec_on("unix:" + path), say_listener};
    one.drain(std::chrono::seconds{1});
    CHECK(!std::filesystem::exists(path));

    server_spec spec = spec_on("unix:" + path);
    spec.listeners.push_back({.listen = "127.0.0.1"});
    CHECK_THROWS_AS((server{spec, say_listener}), std::invalid_argument);
    CHECK(!std::filesystem::exists(path));
}

TEST_CASE("a server leaves the file of another server's socket")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "site.sock";
    server const old{spec_on("unix:" + path), say_listener};
    std::filesystem::rename(path, path + ".old");
    {
        server const successor{spec_on("unix:" + path), say_listener};
        std::filesystem::remove(path);
        std::filesystem::rename(path + ".old", path);
    }
    CHECK(ask_path(path).text == "0");
}

TEST_CASE("a server replaces no file that is no socket")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "certificate.pem";
    std::ofstream{path} << "a certificate";
    CHECK_THROWS_AS((server{spec_on("unix:" + path), say_listener}), std::system_error);
    CHECK(std::filesystem::is_regular_file(path));
    CHECK(std::filesystem::file_size(path) == 13);
}

TEST_CASE("a server takes over a socket that listens already")
{
    asio::io_context io{1};
    tcp::acceptor bound{io, {asio::ip::address_v4::loopback(), 0}};
    unsigned const port = bound.local_endpoint().port();
    server one{spec_on("fd:" + std::to_string(bound.release())), say_listener};
    CHECK(one.port() == port);
    for (int i = 0; i != 10; ++i)
        CHECK(ask_port(port).text == "0");
    CHECK_THROWS_AS((server{spec_on("fd:x"), say_listener}), std::invalid_argument);
    tcp::socket idle{io, tcp::v4()};
    CHECK_THROWS_AS(
        (server{spec_on("fd:" + std::to_string(idle.native_handle())), say_listener}),
        std::invalid_argument);
    CHECK(idle.is_open());

    temporary_folder const folder;
    std::string const path = folder.path() / "site.sock";
    unix_protocol::acceptor made_elsewhere{io, {path}};
    {
        server const other{spec_on("fd:" + std::to_string(made_elsewhere.release())), say_listener};
        CHECK(ask_path(path).text == "0");
    }
    CHECK(std::filesystem::is_socket(path)); // Its maker's.
}

TEST_CASE("a server serves connections that were accepted elsewhere")
{
    server_spec spec = spec_on("127.0.0.1:0");
    spec.listeners.push_back({.listen = "127.0.0.1:0", .tls = named("second's")});
    server one{std::move(spec), say_listener};
    for (int i = 0; i != 4; ++i) {
        int fds[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        CHECK(!one.serve(unique_fd{fds[0]}, 1));
        asio::io_context io{1};
        answer const got = ask(unix_protocol::socket{io, unix_protocol{}, fds[1]});
        CHECK(got.text == "1");
        CHECK(got.name == "second's");
    }
    asio::io_context io{1};
    tcp::socket idle{io, tcp::v4()};
    CHECK(one.serve(unique_fd{idle.release()}) == asio::error::not_connected);
    CHECK(one.serve(unique_fd{}, 2) == asio::error::invalid_argument);
}

namespace {

// Each connection waits for a timer, and for a name, on the executor of its worker.
asio::awaitable<void> use_asio(connection c)
{
    asio::steady_timer timer{c.stream.get_executor(), std::chrono::milliseconds{1}};
    co_await timer.async_wait(asio::use_awaitable);
    tcp::resolver resolver{c.stream.get_executor()};
    tcp::resolver::results_type const found = co_await resolver.async_resolve(
        "127.0.0.1", "443", tcp::resolver::numeric_host, asio::use_awaitable);
    std::string const said = found.begin()->endpoint().address().to_string();
    co_await asio::async_write(c.stream, asio::buffer(said), asio::use_awaitable);
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

} // namespace

TEST_CASE("timers and resolvers run beside the connections of a worker")
{
    server one{spec_on("127.0.0.1:0"), use_asio};
    std::vector<std::future<answer>> all;
    for (int i = 0; i != 4; ++i)
        all.push_back(std::async(std::launch::async, [&] { return ask_port(one.port()); }));
    for (std::future<answer>& each : all)
        CHECK(each.get().text == "127.0.0.1");
}

} // namespace cleat::net::server_listeners_test
