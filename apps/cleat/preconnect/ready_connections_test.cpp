#include "preconnect/ready_connections.hpp"
#include "relay/relay_scene_for_tests.hpp"
#include "worker/upstream_choice.hpp"
#include "worker/worker_upstream.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app::ready_connections_test {
namespace {

using namespace std::chrono_literals;

// A worker with an upstream of one server, which accepts what comes.
struct stage
{
    stage()
    {
        net::listen_options options;
        options.defer_accept = false;
        options.reuse_port = false;
        listening = net::listen_on(net::resolve("127.0.0.1", "0").value().front(), options).value();
        plan.name = "app";
        plan.servers = {{"a", {net::local_address(listening.get()).value()}}};
        plan.preconnect.connections = 2;
    }

    [[nodiscard]] ready_connections& ready() { return *upstream->ready(); }

    void follow(server_state state)
    {
        worker_table table = copy_for_worker({{plan.servers[0].addresses, 1, state}}, 0);
        upstream->follow(table);
    }

    // Turns the worker's loop until this is so.
    net::task<> until(std::function<bool()> is_so)
    {
        auto const last = net::worker::clock::now() + 60s;
        while (!is_so()) {
            accept();
            if (net::worker::clock::now() > last) {
                FAIL_CHECK("waits in vain");
                co_return;
            }
            co_await next_turn{worker};
        }
    }

    net::task<> until_there_are(std::size_t count)
    {
        return until([this, count] { return accepted.size() == count; });
    }

    // So many connections have been made, and the worker knows it of each.
    net::task<> until_ready(std::size_t count)
    {
        co_await until_there_are(count);
        for (int i = 0; i != 10; ++i)
            co_await next_turn{worker};
    }

    void run(std::function<net::task<>()> const& script)
    {
        upstream.emplace(worker, plan, logger{*sink, log_level::info});
        auto const play = [&]() -> net::detached {
            co_await script();
            upstream->end_ready();
            CHECK(ready().count(0) == 0);
            worker.stop();
        };
        play();
        worker.run();
    }

    void accept()
    {
        for (;;) {
            unique_fd one{
                ::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
            if (!one)
                return;
            accepted.push_back(std::move(one));
        }
    }
    [[nodiscard]] bool has_logged(std::string const& text) const
    {
        return folder.read("log").find(text) != std::string::npos;
    }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    net::worker worker;
    unique_fd listening;
    std::vector<unique_fd> accepted;
    upstream_plan plan;
    std::optional<worker_upstream> upstream;
};

} // namespace

TEST_CASE("one that is taken is replaced, and the next is there for the next client")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        CHECK(s.ready().count(0) == 2);
        upstream_choice choice{*s.upstream, 0};
        REQUIRE(choice.next() != nullptr);
        result<net::socket> const first = choice.start();
        REQUIRE(first.has_value());
        CHECK(s.accepted.size() == 2);
        choice.answered();
        CHECK(choice.address().port() == s.plan.servers[0].addresses[0].port());
        co_await s.until_ready(3);
        CHECK(s.ready().count(0) == 2);
    });
    CHECK(s.accepted.size() == 3);
}

TEST_CASE("where none is ready, a client connects by itself")
{
    stage s;
    s.run([&]() -> net::task<> {
        upstream_choice choice{*s.upstream, 0};
        REQUIRE(choice.next() != nullptr);
        result<net::socket> const own = choice.start(); // Before the first turn.
        REQUIRE(own.has_value());
        co_await s.until_ready(3);
        CHECK(s.ready().count(0) == 2);
    });
}

TEST_CASE("one that the server has closed is taken by nobody, and counts as no failure")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        s.accepted.clear(); // The worker has not seen it yet.
        upstream_choice choice{*s.upstream, 0};
        REQUIRE(choice.next() != nullptr);
        result<net::socket> const own = choice.start();
        REQUIRE(own.has_value());
        co_await s.until_there_are(1);
        choice.answered();
        CHECK(s.upstream->servers().ejection_of(0).failures() == 0);
        co_await s.until([&] { return s.has_logged("the server closes it at once"); });
        co_await s.until_ready(3); // After a pause.
        co_await s.until([&] { return s.has_logged("preconnect-recovered"); });
    });
}

TEST_CASE("one that fails when it is used leads to a new one, of the same server")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        upstream_choice choice{*s.upstream, 0};
        REQUIRE(choice.next() != nullptr);
        REQUIRE(choice.start().has_value());
        choice.failed(make_error_code(boost::system::errc::broken_pipe));
        REQUIRE(choice.next() != nullptr);
        result<net::socket> const fresh = choice.start();
        REQUIRE(fresh.has_value());
        choice.failed(make_error_code(boost::system::errc::connection_refused));
        CHECK(choice.next() == nullptr);
    });
    CHECK(s.upstream->servers().ejection_of(0).failures() == 1); // By the new one alone.
}

TEST_CASE("a server that speaks first is named, and is asked seldom")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        for (unique_fd const& each : s.accepted)
            REQUIRE(::send(each.get(), "220 ", 4, 0) == 4);
        co_await s.until([&] { return s.has_logged("the server speaks first"); });
        co_await s.until([&] { return s.ready().count(0) == 0; });
    });
    CHECK(s.accepted.size() == 2);
}

TEST_CASE("one that has been idle for its time is replaced")
{
    stage s;
    s.plan.preconnect = {.connections = 1, .time = 20ms};
    s.run([&]() -> net::task<> { co_await s.until_ready(3); });
    CHECK_FALSE(s.has_logged("preconnect-failed"));
}

TEST_CASE("they are no more than the server may have")
{
    stage s;
    s.plan.servers[0].connections_max = 3;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        std::optional<upstream_choice> first;
        std::optional<upstream_choice> second;
        REQUIRE(first.emplace(*s.upstream, 0).next() != nullptr);
        REQUIRE(first->start().has_value());
        co_await s.until_ready(3); // The used connection, and two others.
        REQUIRE(second.emplace(*s.upstream, 0).next() != nullptr);
        REQUIRE(second->start().has_value());
        CHECK(s.ready().count(0) == 1);
        s.upstream->servers().began(0);
        s.ready().make_room(0);
        CHECK(s.ready().count(0) == 0);
        s.upstream->servers().ended(0);
        first.reset();
        co_await s.until([&] { return s.ready().count(0) == 2; });
    });
}

TEST_CASE("a server that does not serve has none")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        for (server_state const each : {server_state::drained, server_state::down}) {
            s.follow(each);
            co_await s.until([&] { return s.ready().count(0) == 0; });
            s.follow(server_state::serving);
            co_await s.until([&] { return s.ready().count(0) == 2; });
        }
    });
}

TEST_CASE("a server with other addresses gets others")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        net::address other = s.plan.servers[0].addresses[0];
        reinterpret_cast<sockaddr_in&>(other.storage).sin_addr.s_addr = htonl(0x7f000009);
        worker_table table = copy_for_worker({{{other}}}, 0);
        s.upstream->follow(table);
        CHECK(s.ready().count(0) == 0);
        co_await s.until([&] { return s.has_logged("preconnect-failed"); });
    });
}

TEST_CASE("a server that refuses is asked again after a pause, and has not failed a client")
{
    stage s;
    s.listening.reset();
    s.run([&]() -> net::task<> {
        co_await s.until([&] { return s.has_logged("preconnect-failed"); });
        CHECK(s.ready().count(0) == 0);
    });
    CHECK(s.has_logged("Connection refused"));
    CHECK(s.upstream->servers().ejection_of(0).failures() == 0);
}

TEST_CASE("the end of the worker ends them")
{
    stage s;
    s.run([&]() -> net::task<> {
        co_await s.until_ready(2);
        s.worker.interrupt_all();
        CHECK(s.ready().count(0) == 0);
    });
}

} // namespace cleat::app::ready_connections_test
