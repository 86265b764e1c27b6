#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/socket_options.hpp>

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cleat::net::socket_options_test {
namespace {

int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    REQUIRE(::getsockopt(fd, level, name, &value, &size) == 0);
    return value;
}

address only(result<std::vector<address>> const& found)
{
    REQUIRE(found.has_value());
    REQUIRE(!found->empty());
    return found->front();
}

TEST_CASE("addresses are spelled as configuration spells them")
{
    CHECK(to_string(only(resolve("127.0.0.1", "443"))) == "127.0.0.1:443");
    CHECK(to_string(only(resolve("::1", "443"))) == "[::1]:443");
    CHECK(only(resolve("127.0.0.1", "443")).port() == 443);
    CHECK(only(resolve("::1", "65535")).port() == 65535);
    address const path = unix_address("/run/x.sock").value();
    CHECK(to_string(path) == "unix:/run/x.sock");
    CHECK(path.port() == 0);
    CHECK(to_string(address{}) == "?:0");
    address nameless; // As accept gives it for a UNIX client that is bound to nothing.
    nameless.storage.ss_family = AF_UNIX;
    nameless.size = sizeof(sa_family_t);
    CHECK(to_string(nameless) == "unix:");
}

TEST_CASE("a path that does not fit is an error, the longest that fits is not cut")
{
    CHECK(!unix_address("").has_value());
    CHECK(!unix_address(std::string(108, 'a')).has_value());
    std::string const longest(107, 'a');
    CHECK(to_string(unix_address(longest).value()) == "unix:" + longest);
}

TEST_CASE("no host is every address; a wrong port or name is the resolver's error")
{
    result<std::vector<address>> const any = resolve("*", "80");
    REQUIRE(any.has_value());
    for (address const& a : *any) {
        std::string const text = to_string(a);
        CHECK_MESSAGE((text == "0.0.0.0:80" || text == "[::]:80"), text);
    }
    for (char const* const wrong : {"https", "65536", "99999", "-1", "+1", " 1", "1 ", ""}) {
        result<std::vector<address>> const no_port = resolve("127.0.0.1", wrong);
        REQUIRE_MESSAGE(!no_port.has_value(), wrong);
        CHECK(no_port.error().message() == ::gai_strerror(no_port.error().value()));
    }
}

struct accepted_connection
{
    unique_fd client;
    unique_fd accepted;
};

accepted_connection connect_to(unique_fd const& listening)
{
    address const bound = local_address(listening.get()).value();
    accepted_connection made{.client = unique_fd{::socket(AF_INET, SOCK_STREAM, 0)}, .accepted{}};
    REQUIRE(::connect(made.client.get(), bound.data(), bound.size) == 0);
    made.accepted.reset(::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK));
    REQUIRE(made.accepted);
    return made;
}

TEST_CASE("connections inherit the options of their listening socket")
{
    listen_options options;
    options.defer_accept = false;
    options.keepalive = std::chrono::seconds{77};
    options.receive_buffer = 20'000;
    options.send_buffer = 30'000;
    unique_fd const listening = listen_on(only(resolve("127.0.0.1", "0")), options).value();
    CHECK(local_address(listening.get()).value().port() != 0);
    accepted_connection const made = connect_to(listening);
    int const fd = made.accepted.get();
    CHECK(option_of(fd, IPPROTO_TCP, TCP_NODELAY) == 1);
    CHECK(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 77);
    CHECK(option_of(fd, SOL_SOCKET, SO_RCVBUF) == 40'000); // The kernel doubles it.
    CHECK(option_of(fd, SOL_SOCKET, SO_SNDBUF) == 60'000);
}

TEST_CASE("a listening socket can be given other options for later connections")
{
    listen_options options;
    options.defer_accept = false;
    options.receive_buffer = 20'000;
    unique_fd const listening = listen_on(only(resolve("127.0.0.1", "0")), options).value();
    accepted_connection const before = connect_to(listening);
    options.receive_buffer = 10'000;
    options.keepalive = std::chrono::seconds{88};
    CHECK(!change_listen_options(listening.get(), options));
    accepted_connection const after = connect_to(listening);
    CHECK(option_of(after.accepted.get(), SOL_SOCKET, SO_RCVBUF) == 20'000);
    CHECK(option_of(after.accepted.get(), IPPROTO_TCP, TCP_KEEPIDLE) == 88);
    CHECK(option_of(before.accepted.get(), SOL_SOCKET, SO_RCVBUF) == 40'000);
}

TEST_CASE("sockets share a port with reuse_port only")
{
    listen_options const shared;
    unique_fd const first = listen_on(only(resolve("127.0.0.1", "0")), shared).value();
    address const bound = local_address(first.get()).value();
    CHECK(listen_on(bound, shared).has_value());
    listen_options alone;
    alone.reuse_port = false;
    result<unique_fd> const refused = listen_on(bound, alone);
    REQUIRE(!refused.has_value());
    CHECK(refused.error() == boost::system::errc::address_in_use);
}

TEST_CASE("a UNIX socket can be listened on")
{
    temporary_folder const folder;
    address const bound = unix_address(folder.path() / "s").value();
    unique_fd const listening = listen_on(bound, {}).value();
    unique_fd const client{::socket(AF_UNIX, SOCK_STREAM, 0)};
    CHECK(::connect(client.get(), bound.data(), bound.size) == 0);
    CHECK(!listen_on(unix_address("/nonexistent/folder/s").value(), {}).has_value());
}

TEST_CASE("set_no_delay turns Nagle's algorithm off on TCP, and does nothing elsewhere")
{
    unique_fd const tcp{::socket(AF_INET, SOCK_STREAM, 0)};
    set_no_delay(tcp.get());
    CHECK(option_of(tcp.get(), IPPROTO_TCP, TCP_NODELAY) == 1);
    unique_fd const local{::socket(AF_UNIX, SOCK_STREAM, 0)};
    set_no_delay(local.get());
    CHECK(!local_address(-1).has_value());
}

} // namespace
} // namespace cleat::net::socket_options_test
