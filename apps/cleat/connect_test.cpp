#include "connect.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace cleat::app {
namespace {

using namespace std::chrono_literals;

struct listener_on_loopback
{
    explicit listener_on_loopback(int backlog = 16)
    {
        net::listen_options options;
        options.backlog = backlog;
        options.defer_accept = false;
        options.reuse_port = false;
        socket = net::listen_on(net::resolve("127.0.0.1", "0").value().front(), options).value();
        address = net::local_address(socket.get()).value();
    }

    [[nodiscard]] unique_fd accept() const
    {
        return unique_fd{::accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    }

    unique_fd socket;
    net::address address;
};

net::address refused()
{
    return listener_on_loopback{}.address; // Nobody is there any more.
}

std::string all_of(int fd)
{
    std::string text(1000, '\0');
    ssize_t const n = ::recv(fd, text.data(), text.size(), MSG_DONTWAIT);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
}

struct attempt
{
    std::optional<error_code> failed;
    std::optional<upstream> made;
};

net::detached try_all(
    net::worker& w, net::interrupt& by, std::vector<net::address> to, std::string first,
    attempt& seen)
{
    result<upstream> found = co_await connect(by, to, net::bytes_of(first));
    if (found)
        seen.made.emplace(std::move(*found));
    else
        seen.failed = found.error();
    w.stop();
}

TEST_CASE("the first bytes go with the connection")
{
    net::worker w;
    net::interrupt by{w};
    listener_on_loopback const there;
    attempt seen;
    try_all(w, by, {there.address}, "hello", seen);
    w.run();
    REQUIRE(seen.made);
    CHECK(seen.made->unsent.empty());
    CHECK(seen.made->sends == 1);
    CHECK(all_of(there.accept().get()) == "hello");
}

TEST_CASE("addresses are tried in their order until one accepts")
{
    net::worker w;
    net::interrupt by{w};
    listener_on_loopback const there;
    listener_on_loopback const never;
    attempt seen;
    try_all(w, by, {refused(), there.address, never.address}, "hello", seen);
    w.run();
    REQUIRE(seen.made);
    CHECK(all_of(there.accept().get()) == "hello");
    CHECK(!never.accept());
}

TEST_CASE("when none accepts, the last one's error is the answer")
{
    net::worker w;
    net::interrupt by{w};
    attempt seen;
    temporary_folder const folder;
    net::address const missing = net::unix_address(folder.path() / "none").value();
    try_all(w, by, {missing, refused()}, "x", seen);
    REQUIRE(seen.failed);
    CHECK(*seen.failed == boost::system::errc::connection_refused);
    attempt other;
    try_all(w, by, {refused(), missing}, "", other);
    REQUIRE(other.failed);
    CHECK(*other.failed == boost::system::errc::no_such_file_or_directory);
    attempt none;
    try_all(w, by, {}, "x", none);
    REQUIRE(none.failed);
    CHECK(*none.failed == boost::system::errc::address_not_available);
}

TEST_CASE("what the socket does not take at once is left to be flushed")
{
    net::worker w;
    net::interrupt by{w};
    temporary_folder const folder;
    net::address const at = net::unix_address(folder.path() / "s").value();
    unique_fd const listening = net::listen_on(at, {}).value();
    attempt seen;
    std::string const much(900'000, 'm');
    try_all(w, by, {at}, much, seen);
    REQUIRE(seen.made);
    CHECK(!seen.made->unsent.empty());
    unique_fd const accepted{::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK)};
    std::size_t got = net::drain(accepted.get());
    error_code ec;
    while (seen.made->flush(ec))
        got += net::drain(accepted.get());
    CHECK(!ec);
    got += net::drain(accepted.get());
    CHECK(got == much.size());
}

// A listener whose queue is full: who connects waits.
struct full_listener : listener_on_loopback
{
    full_listener() : listener_on_loopback{0}
    {
        for (unique_fd& one : waiting) {
            one.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            static_cast<void>(::connect(one.get(), address.data(), address.size));
        }
    }
    std::array<unique_fd, 4> waiting;
};

TEST_CASE("an upstream that does not accept in time is left, with the deadline's name")
{
    net::worker w;
    net::interrupt by{w};
    full_listener const full;
    attempt seen;
    by.expires_in(3ms, error::connect_timeout);
    try_all(w, by, {full.address}, "x", seen);
    CHECK(!seen.failed);
    w.run();
    REQUIRE(seen.failed);
    CHECK(*seen.failed == error::connect_timeout);
}

TEST_CASE("the first bytes reach the second upstream when the first one failed only after a wait")
{
    net::worker w;
    net::interrupt by{w};
    full_listener const full;
    listener_on_loopback const there;
    attempt seen;
    // The descriptor that connect is about to get: to break its first attempt as a network would.
    int const next = ::dup(full.socket.get());
    ::close(next);
    try_all(w, by, {full.address, there.address}, "hello", seen);
    CHECK(!seen.made);
    REQUIRE(::shutdown(next, SHUT_RDWR) == 0);
    w.run();
    REQUIRE(seen.made);
    std::string got = all_of(there.accept().get());
    CHECK(got + net::text_of(seen.made->unsent.front()) == "hello");
}

} // namespace
} // namespace cleat::app
