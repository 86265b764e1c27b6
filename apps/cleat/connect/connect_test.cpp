#include "connect/connect.hpp"
#include "relay/relay_scene_for_tests.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app::connect_test {
namespace {

using namespace std::chrono_literals;

struct listener_on_loopback
{
    explicit listener_on_loopback(int backlog = 16, std::string const& host = "127.0.0.1")
    {
        net::listen_options options;
        options.backlog = backlog;
        options.defer_accept = false;
        options.reuse_port = false;
        socket = net::listen_on(net::resolve(host, "0").value().front(), options).value();
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
    return listener_on_loopback{}.address; // Its socket is closed again.
}

// The descriptor of a connection that begins next, to break it as a network would.
int next_descriptor(unique_fd const& any)
{
    int const next = ::dup(any.get());
    ::close(next);
    return next;
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
    std::optional<upstream_side> made;
};

struct served
{
    upstream_plan plan;
    std::optional<worker_upstream> upstream;
};

// A worker, and the attempts to connect on it.
struct stage
{
    net::worker worker;
    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    std::map<std::string, served> upstreams; // By their addresses.
    std::chrono::milliseconds timeout{};
    int tries = 1; // The last attempt to end stops the worker.

    // Attempts with the same addresses have the same upstream, of one server.
    worker_upstream& serve(std::vector<net::address> addresses)
    {
        std::string key;
        for (net::address const& each : addresses)
            key += net::to_string(each) + ' ';
        served& found = upstreams[key];
        if (!found.upstream) {
            found.plan.servers = {{"server", std::move(addresses)}};
            found.upstream.emplace(worker, found.plan, logger{*sink, log_level::warning});
        }
        return *found.upstream;
    }

    [[nodiscard]] connect_queue& queue() { return upstreams.begin()->second.upstream->queue(0); }
};

net::detached start_to_try(
    stage& s, net::interrupt& interrupt, std::vector<net::address> addresses,
    std::span<std::byte const> first, attempt& seen)
{
    upstream_choice choice{s.serve(std::move(addresses)), 0};
    result<upstream_side> found = co_await connect(interrupt, choice, first, s.timeout);
    if (found)
        seen.made.emplace(std::move(*found));
    else
        seen.failed = found.error();
    if (--s.tries == 0)
        s.worker.stop();
}

// The first bytes lie in a block that another connection uses as soon as this one waits.
void try_all(
    stage& s, net::interrupt& interrupt, std::vector<net::address> addresses, std::string first,
    attempt& seen)
{
    start_to_try(s, interrupt, std::move(addresses), net::bytes_of(first), seen);
    std::fill(first.begin(), first.end(), '#');
}

TEST_CASE("the first bytes go with the connection")
{
    stage s;
    net::interrupt interrupt{s.worker};
    listener_on_loopback const there;
    attempt seen;
    try_all(s, interrupt, {there.address}, "hello", seen);
    s.worker.run();
    REQUIRE(seen.made);
    CHECK(seen.made->unsent.empty());
    CHECK(seen.made->sends == 1);
    CHECK(all_of(there.accept().get()) == "hello");
}

TEST_CASE("addresses are tried in their order until one accepts")
{
    stage s;
    net::interrupt interrupt{s.worker};
    listener_on_loopback const there;
    listener_on_loopback const never;
    attempt seen;
    try_all(s, interrupt, {refused(), there.address, never.address}, "hello", seen);
    s.worker.run();
    REQUIRE(seen.made);
    CHECK(all_of(there.accept().get()) == "hello");
    CHECK(!never.accept());
}

TEST_CASE("when none accepts, the last one's error is the answer")
{
    stage s;
    net::interrupt interrupt{s.worker};
    attempt seen;
    temporary_folder const folder;
    net::address const missing = net::unix_address(folder.path() / "none").value();
    try_all(s, interrupt, {missing, refused()}, "x", seen);
    REQUIRE(seen.failed);
    CHECK(*seen.failed == boost::system::errc::connection_refused);
    attempt other;
    try_all(s, interrupt, {refused(), missing}, "", other);
    REQUIRE(other.failed);
    CHECK(*other.failed == boost::system::errc::no_such_file_or_directory);
    attempt none;
    try_all(s, interrupt, {}, "x", none);
    REQUIRE(none.failed);
    CHECK(*none.failed == error::no_server);
}

TEST_CASE("what the socket does not take at once is left to be flushed")
{
    stage s;
    net::interrupt interrupt{s.worker};
    temporary_folder const folder;
    net::address const address = net::unix_address(folder.path() / "s").value();
    unique_fd const listening = net::listen_on(address, {}).value();
    attempt seen;
    std::string const much(900'000, 'm');
    try_all(s, interrupt, {address}, much, seen);
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

// A listener whose queue is full: a connection to it waits.
struct full_listener : listener_on_loopback
{
    explicit full_listener(std::string const& host = "127.0.0.1") : listener_on_loopback{0, host}
    {
        for (unique_fd& one : waiting) {
            one.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            static_cast<void>(::connect(one.get(), address.data(), address.size));
        }
    }
    std::array<unique_fd, 4> waiting;
};

TEST_CASE("an upstream that does not accept in time is left, with the deadline's name")
{
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const full;
    attempt seen;
    s.timeout = 3ms;
    try_all(s, interrupt, {full.address}, "x", seen);
    CHECK(!seen.failed);
    s.worker.run();
    REQUIRE(seen.failed);
    CHECK(*seen.failed == error::connect_timeout);
}

TEST_CASE("an address that swallows packets leaves time for the next")
{
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const full;
    listener_on_loopback const there;
    attempt seen;
    s.timeout = 50ms;
    try_all(s, interrupt, {full.address, full.address, there.address}, "hello", seen);
    CHECK(!seen.made);
    s.worker.run();
    REQUIRE(seen.made);
    CHECK(all_of(there.accept().get()) + net::text_of(seen.made->unsent.front()) == "hello");
}

TEST_CASE("where all addresses swallow packets, it is over in the time of one")
{
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const full;
    attempt seen;
    s.timeout = 30ms;
    auto const began = s.worker.now(); // The deadline counts from here.
    try_all(s, interrupt, {full.address, full.address, full.address}, "x", seen);
    s.worker.run();
    REQUIRE(seen.failed);
    CHECK(*seen.failed == error::connect_timeout);
    CHECK(net::worker::clock::now() - began >= 29ms);
}

TEST_CASE("the first bytes reach the second upstream when the first one failed only after a wait")
{
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const full;
    listener_on_loopback const there;
    attempt seen;
    int const next = next_descriptor(full.socket);
    try_all(s, interrupt, {full.address, there.address}, "hello", seen);
    CHECK(!seen.made);
    REQUIRE(::shutdown(next, SHUT_RDWR) == 0);
    s.worker.run();
    REQUIRE(seen.made);
    std::string got = all_of(there.accept().get());
    CHECK(got + net::text_of(seen.made->unsent.front()) == "hello");
}

// IPv6, which a container may not have.
bool has_ipv6()
{
    net::address const loopback = net::resolve("::1", "0").value().front();
    unique_fd const fd{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return fd && ::bind(fd.get(), loopback.data(), loopback.size) == 0;
}

TEST_CASE("a family that does not answer costs a delay, and only the first connection")
{
    if (!has_ipv6())
        return;
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const silent{"::1"};
    listener_on_loopback const there;
    s.timeout = 1h; // Of which nothing passes, and of its half neither.
    std::vector<net::address> const both{silent.address, there.address};
    attempt seen;
    auto const began = s.worker.now();
    try_all(s, interrupt, both, "hello", seen);
    s.worker.run();
    REQUIRE(seen.made);
    CHECK(net::worker::clock::now() - began >= limits::attempt_delay);
    CHECK(net::text_of(seen.made->unsent.front()) == "hello");
    CHECK(there.accept());
    CHECK(s.serve(both).servers().ejection_of(0).failures() == 0);
    attempt next;
    s.tries = 1;
    try_all(s, interrupt, both, "again", next);
    CHECK(next.made); // At once.
    CHECK(all_of(there.accept().get()) == "again");
}

TEST_CASE("where both families are silent, their time is that of two addresses")
{
    if (!has_ipv6())
        return;
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener const silent{"::1"};
    full_listener const other;
    s.timeout = 300ms;
    attempt seen;
    auto const began = s.worker.now();
    try_all(s, interrupt, {silent.address, other.address}, "x", seen);
    s.worker.run();
    REQUIRE(seen.failed);
    CHECK(*seen.failed == error::connect_timeout);
    CHECK(net::worker::clock::now() - began >= 299ms);
    CHECK(s.upstreams.begin()->second.upstream->servers().ejection_of(0).failures() == 1);
}

TEST_CASE("of two addresses in a race one may fail, and the other goes on")
{
    if (!has_ipv6())
        return;
    stage s;
    net::interrupt interrupt{s.worker};
    full_listener silent{"::1"};
    listener_on_loopback const later{0};
    s.timeout = 1h;
    attempt seen;
    int const first = next_descriptor(silent.socket);
    SUBCASE("the first one, before the other begins")
    {
        try_all(s, interrupt, {silent.address, later.address}, "hello", seen);
        REQUIRE(::shutdown(first, SHUT_RDWR) == 0);
        s.worker.run();
    }
    SUBCASE("the other one, which is refused at once")
    {
        s.timeout = 600ms;
        try_all(s, interrupt, {silent.address, refused()}, "hello", seen);
        s.worker.run();
        REQUIRE(seen.failed);
        CHECK(*seen.failed == error::connect_timeout);
        return;
    }
    REQUIRE(seen.made);
    CHECK(later.accept());
}

// A UNIX upstream whose queue is full: it refuses connections until it accepts one.
struct full_path
{
    full_path()
    {
        net::listen_options one;
        one.backlog = 0;
        listening = net::listen_on(address, one).value();
        for (;;) {
            unique_fd next{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
            if (::connect(next.get(), address.data(), address.size) != 0)
                break;
            ahead.push_back(std::move(next));
        }
        REQUIRE(!ahead.empty());
    }

    [[nodiscard]] unique_fd accept() const
    {
        return unique_fd{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    }

    void accept_ahead() const
    {
        for (std::size_t i = 0; i < ahead.size(); ++i)
            REQUIRE(accept());
    }

    temporary_folder folder;
    net::address address = net::unix_address(folder.path() / "s").value();
    unique_fd listening;
    std::vector<unique_fd> ahead;
};

void accept_queued(full_path const& upstream, std::vector<std::string>& received)
{
    while (unique_fd const one = upstream.accept())
        received.push_back(all_of(one.get()));
}

// The upstream accepts as long as a connection is tried.
net::detached accept_all(stage& s, full_path const& upstream, std::vector<std::string>& received)
{
    upstream.accept_ahead();
    while (s.tries != 0) {
        accept_queued(upstream, received);
        co_await next_turn{s.worker};
    }
}

TEST_CASE("connections wait in a queue for room, and each sends its own first bytes")
{
    stage s;
    s.tries = 3;
    full_path const upstream;
    std::array<attempt, 3> seen;
    std::array<std::optional<net::interrupt>, 3> interrupts;
    for (std::size_t i = 0; i < seen.size(); ++i)
        try_all(
            s, interrupts[i].emplace(s.worker), {upstream.address}, fmt::format("I am {}", i),
            seen[i]);
    CHECK(!s.queue().empty());
    std::vector<std::string> received;
    accept_all(s, upstream, received);
    s.worker.run();
    accept_queued(upstream, received);
    CHECK(received == std::vector<std::string>{"I am 0", "I am 1", "I am 2"});
    CHECK(s.queue().empty());
}

TEST_CASE("a connection whose time is over leaves the queue, first or not, and the others go on")
{
    stage s;
    s.tries = 3;
    full_path const upstream;
    net::interrupt first{s.worker};
    net::interrupt second{s.worker};
    net::interrupt third{s.worker};
    attempt impatient;
    attempt patient;
    attempt last;
    first.expires_in(30ms, error::connect_timeout);
    third.expires_in(5ms, error::connect_timeout);
    try_all(s, first, {upstream.address}, "1", impatient);
    try_all(s, second, {upstream.address}, "2", patient);
    try_all(s, third, {upstream.address}, "3", last);
    std::vector<std::string> received;
    auto const accept_later = [&]() -> net::detached {
        while (s.tries != 1)
            co_await next_turn{s.worker};
        accept_all(s, upstream, received);
    };
    accept_later();
    s.worker.run();
    REQUIRE(last.failed);
    CHECK(*last.failed == error::connect_timeout);
    REQUIRE(impatient.failed);
    CHECK(*impatient.failed == error::connect_timeout);
    CHECK(patient.made);
    accept_queued(upstream, received);
    CHECK(received == std::vector<std::string>{"2"});
}

TEST_CASE("the end of the worker ends the queue")
{
    stage s;
    s.tries = 3;
    full_path const upstream;
    std::array<attempt, 3> seen;
    std::array<std::optional<net::interrupt>, 3> interrupts;
    for (std::size_t i = 0; i < seen.size(); ++i)
        try_all(s, interrupts[i].emplace(s.worker), {upstream.address}, "x", seen[i]);
    s.worker.interrupt_all();
    s.worker.run();
    for (attempt const& each : seen) {
        REQUIRE(each.failed);
        CHECK(*each.failed == error::stopped);
    }
    CHECK(s.queue().empty());
}

} // namespace
} // namespace cleat::app::connect_test
