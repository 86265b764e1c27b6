#include "health/check_probe.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::app::check_probe_test {
namespace {

using progress = check_probe::progress;
using namespace std::chrono_literals;

// A server at a UNIX socket, where nothing is left to the clock. It answers only when a test does.
struct unix_server
{
    explicit unix_server(bool listens = true) : address{net::unix_address(path()).value()}
    {
        if (!listens)
            return;
        listening.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::bind(listening.get(), address.data(), address.size) == 0);
        REQUIRE(::listen(listening.get(), 5) == 0);
    }
    [[nodiscard]] std::string path() const { return (folder.path() / "socket").string(); }
    [[nodiscard]] unique_fd accept() const
    {
        return unique_fd{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    }

    temporary_folder folder;
    net::address address;
    unique_fd listening;
};

void say(unique_fd const& connection, std::string_view text)
{
    REQUIRE(
        ::send(connection.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
}

std::string heard(unique_fd const& connection)
{
    std::string text(100, '\0');
    ssize_t const size = ::recv(connection.get(), text.data(), text.size(), 0);
    REQUIRE(size >= 0);
    text.resize(static_cast<std::size_t>(size));
    return text;
}

check_target target_of(std::vector<net::address> addresses, std::string send, std::string expect)
{
    check_target made;
    made.addresses = std::move(addresses);
    made.rule = {.is_on = true, .send = std::move(send), .expect = std::move(expect)};
    return made;
}

constexpr check_probe::time_point start{};

} // namespace

TEST_CASE("a connection is enough where nothing is expected")
{
    unix_server const server;
    check_target const target = target_of({server.address}, "", "");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::passed);
}

TEST_CASE("a server that does not listen fails, and the reason says why")
{
    unix_server const server{false};
    check_target const target = target_of({server.address}, "", "");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::failed);
    CHECK(probe.reason() == "No such file or directory");
}

TEST_CASE("the answer is read until it has the expected text")
{
    unix_server const server;
    check_target const target = target_of({server.address}, "PING\r\n", "PONG");
    check_probe probe{target};
    for (int i = 0; i < 2; ++i) { // A probe can be used again.
        CHECK(probe.begin(start) == progress::waits);
        unique_fd const connection = server.accept();
        CHECK(heard(connection) == "PING\r\n");
        say(connection, "+PO");
        CHECK(probe.go_on(start) == progress::waits);
        say(connection, "NG");
        CHECK(probe.go_on(start) == progress::passed);
    }
}

TEST_CASE("a server that accepts and does not answer fails at the deadline")
{
    unix_server const server;
    check_target const target = target_of({server.address}, "PING", "PONG");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::waits);
    CHECK(probe.deadline() == start + 1s);
    CHECK(probe.go_on(start + 999ms) == progress::waits);
    CHECK(probe.go_on(start + 1s) == progress::failed);
    CHECK(probe.reason() == "no answer within 1000 ms");
}

TEST_CASE("an answer that ends, or is long, without the expected text fails")
{
    unix_server const server;
    check_target const target = target_of({server.address}, "", "PONG");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::waits);
    say(server.accept(), "ERROR");
    progress made = probe.go_on(start);
    if (made == progress::waits) // The end comes after the text.
        made = probe.go_on(start);
    CHECK(made == progress::failed);
    CHECK(probe.reason() == "the answer has ended without the expected text");

    CHECK(probe.begin(start) == progress::waits);
    say(server.accept(), std::string(5000, 'x') + "PONG");
    CHECK(probe.go_on(start) == progress::failed);
    CHECK(probe.reason() == "the first 4096 bytes of the answer lack the expected text");
}

TEST_CASE("a header goes out before the text, and alone where there is none")
{
    unix_server const server;
    check_target target = target_of({server.address}, "", "");
    target.rule.header = "PROXY UNKNOWN\r\n";
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::passed);
    CHECK(heard(server.accept()) == "PROXY UNKNOWN\r\n");
    target.rule.send = "PING";
    target.rule.expect = "PONG";
    CHECK(probe.begin(start) == progress::waits);
    unique_fd const connection = server.accept();
    CHECK(heard(connection) == "PROXY UNKNOWN\r\nPING");
    say(connection, "PONG");
    CHECK(probe.go_on(start) == progress::passed);
}

TEST_CASE("a handshake that fails, or does not go on, is no service")
{
    unix_server const server;
    check_target target = target_of({server.address}, "", "");
    check_tls tls;
    tls.spec.role = tls::role::client;
    target.rule.tls = std::make_shared<check_tls const>(tls);
    check_context context{target.rule.tls};
    check_probe probe{target, &context};
    CHECK(probe.begin(start) == progress::waits);
    CHECK(probe.wanted().events == POLLIN);
    CHECK(heard(server.accept()).starts_with("\x16\x03"));
    CHECK(probe.go_on(start + 1s) == progress::failed);
    CHECK(probe.reason() == "no TLS handshake within 1000 ms");

    CHECK(probe.begin(start) == progress::waits);
    say(server.accept(), "220 mail.example ESMTP\r\n");
    CHECK(probe.go_on(start) == progress::failed);
    CHECK(probe.reason() == "the first bytes are not TLS");
}

TEST_CASE("the next address is tried, and one that passes is enough")
{
    unix_server const missing{false};
    unix_server const server;
    check_target const target = target_of({missing.address, server.address}, "", "");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::passed);

    unix_server const silent;
    check_target const two = target_of({silent.address, server.address}, "", "PONG");
    check_probe second{two};
    CHECK(second.begin(start) == progress::waits);
    CHECK(second.go_on(start + 1s) == progress::waits);
    CHECK(second.deadline() == start + 2s);
    static_cast<void>(server.accept()); // Of the first probe.
    say(server.accept(), "PONG");
    CHECK(second.go_on(start + 1s) == progress::passed);
}

TEST_CASE("a server without addresses fails")
{
    check_target const target = target_of({}, "", "");
    check_probe probe{target};
    CHECK(probe.begin(start) == progress::failed);
    CHECK(probe.reason() == "the server has no address");
}

} // namespace cleat::app::check_probe_test
