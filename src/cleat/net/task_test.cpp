#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace cleat::net::task_test {
namespace asio = boost::asio;
namespace {

using namespace std::chrono_literals;

struct pair_of_sockets
{
    explicit pair_of_sockets(
        worker& owner, std::pair<unique_fd, unique_fd> fds = make_sockets(socket_kind::unix_pair))
        : near{owner, std::move(fds.first)}, far{owner, std::move(fds.second)}
    {
    }
    socket near;
    socket far;
};

task<int> three()
{
    co_return 3;
}

task<int> sum(int depth)
{
    if (depth == 0)
        co_return 0;
    co_return 1 + co_await sum(depth - 1);
}

task<std::unique_ptr<int>> boxed(int n)
{
    co_return std::make_unique<int>(n);
}

task<> nothing(int& count)
{
    ++count;
    co_return;
}

detached call_all(int& count, int& result)
{
    task<int> begun = three();
    CHECK(count == 0);
    co_await nothing(count);
    task<> never = nothing(count); // Not awaited: it does not run, and its frame is freed.
    result = co_await std::move(begun) + co_await sum(20) + *co_await boxed(100);
}

TEST_CASE("a task runs when it is awaited, and gives its value to its caller")
{
    int count = 0;
    int result = 0;
    call_all(count, result);
    CHECK(count == 1);
    CHECK(result == 123);
}

task<std::unique_ptr<int>> out_of_memory(std::shared_ptr<int> held)
{
    if (held)
        throw std::bad_alloc{};
    co_return nullptr;
}

task<> one_further(std::shared_ptr<int> held)
{
    co_await out_of_memory(std::move(held));
}

detached give_up(std::shared_ptr<int> held, int& reached)
{
    try {
        co_await out_of_memory(held);
    } catch (std::bad_alloc const&) {
        ++reached;
    }
    co_await one_further(held);
    ++reached;
}

TEST_CASE("std::bad_alloc ends one detached coroutine, and destroys what it owns")
{
    auto const held = std::make_shared<int>(0);
    int reached = 0;
    give_up(held, reached);
    CHECK(reached == 1);
    CHECK(held.use_count() == 1);
}

TEST_CASE("a wait ends when its descriptor is ready, not before the loop has seen it")
{
    worker w;
    pair_of_sockets s{w};
    net::interrupt interrupt{w};
    int woken = 0;
    auto const scenario = [&]() -> detached {
        CHECK(!co_await ready{interrupt, {&s.near.entry(), true, false}});
        ++woken;
        std::array<std::byte, 8> buffer{};
        CHECK(s.near.receive(buffer).bytes == 1);
        CHECK(!s.near.entry().readable());
        w.stop();
    };
    scenario();
    CHECK(s.far.send(bytes_of("x")).bytes == 1);
    CHECK(woken == 0);
    w.run();
    CHECK(woken == 1);
}

detached until_deadline(worker& w, socket& s, std::vector<error_code>& seen)
{
    net::interrupt interrupt{w};
    interest const readable{&s.entry(), true, false};
    interrupt.expires_in(2ms, error::idle_timeout);
    seen.push_back(co_await ready{interrupt, readable});
    seen.push_back(co_await ready{interrupt, readable}); // Raised: every wait ends at once.
    interrupt.expires_in(1ms, error::handshake_timeout);
    seen.push_back(co_await ready{interrupt, readable});
    interrupt.expires_in(0ms, error::idle_timeout); // Never.
    interrupt.raise(error::connect_timeout);
    seen.push_back(co_await pause(interrupt));
    interrupt.clear();
    interrupt.raise(error::stopped);
    interrupt.clear(); // error::stopped stays.
    seen.push_back(co_await ready{interrupt, readable});
    w.stop();
}

TEST_CASE("a deadline ends every wait with its error, until a new one is set")
{
    worker w;
    pair_of_sockets s{w};
    std::vector<error_code> seen;
    until_deadline(w, s.near, seen);
    w.run();
    CHECK(
        seen == std::vector<error_code>{
                    error::idle_timeout, error::idle_timeout, error::handshake_timeout,
                    error::connect_timeout, error::stopped});
}

TEST_CASE("one wait for two descriptors is woken by either, once")
{
    for (bool const second : {false, true}) {
        worker w;
        pair_of_sockets one{w};
        pair_of_sockets other{w};
        int woken = 0;
        net::interrupt interrupt{w};
        auto const scenario = [&]() -> detached {
            error_code const ec = co_await ready{
                interrupt, {&one.near.entry(), true, false}, {&other.near.entry(), true, false}};
            CHECK(!ec);
            ++woken;
            w.stop();
        };
        scenario();
        CHECK((second ? other : one).far.send(bytes_of("x")).bytes == 1);
        w.run();
        CHECK(woken == 1);
        CHECK((second ? other : one).near.entry().readable());
        // Both entries take a new waiter.
        waiter free{};
        CHECK(!one.near.entry().wait_readable(free));
        CHECK(!other.near.entry().wait_readable(free));
        one.near.entry().forget(free);
        other.near.entry().forget(free);
    }
}

TEST_CASE("a connection that always has more to read does not occupy the worker")
{
    worker w;
    pair_of_sockets greedy{w};
    pair_of_sockets modest{w};
    net::interrupt interrupt{w};
    net::interrupt modest_interrupt{w};
    int turns = 0;
    int turns_when_served = -1;
    auto const eat = [&]() -> detached {
        for (;;) {
            ++turns;
            greedy.near.entry().more_to_read();
            if (error_code const ec =
                    co_await ready{interrupt, {&greedy.near.entry(), true, false}})
                co_return;
        }
    };
    auto const wait = [&]() -> detached {
        if (!co_await ready{modest_interrupt, {&modest.near.entry(), true, false}})
            turns_when_served = turns;
        w.interrupt_all();
        w.stop();
    };
    eat();
    wait();
    CHECK(modest.far.send(bytes_of("x")).bytes == 1);
    w.run();
    CHECK(turns_when_served >= 1);
    CHECK(turns_when_served <= 3);
}

TEST_CASE("a connection that is queued when its worker stops still ends")
{
    auto const token = std::make_shared<int>(0);
    {
        worker w;
        struct service // Connections refer to it. It is destroyed before its worker.
        {
            int ended = 0;
        };
        auto shared = std::make_unique<service>();
        pair_of_sockets s{w};
        auto const busy =
            [&w](service& owner, socket& stream, std::shared_ptr<int> held) -> detached {
            net::interrupt interrupt{w};
            for (;;) {
                stream.entry().more_to_read();
                if (error_code const ec =
                        co_await ready{interrupt, {&stream.entry(), true, false}}) {
                    CHECK(ec == error::stopped);
                    ++owner.ended;
                    co_return;
                }
                static_cast<void>(*held);
            }
        };
        asio::post(w.get_executor(), [&] { busy(*shared, s.near, token); });
        asio::post(w.get_executor(), [&] {
            // The busy connection is in the queue already.
            w.interrupt_all();
            w.stop();
        });
        w.run();
        CHECK(shared->ended == 1);
        shared.reset();
    }
    CHECK(token.use_count() == 1);
}

TEST_CASE("a wait that epoll refuses ends with its error")
{
    worker w;
    net::interrupt interrupt{w};
    entry_ptr const none{new readiness::entry{w.readiness(), unique_fd{}}};
    pair_of_sockets good{w};
    error_code ec;
    int woken = 0;
    auto const scenario = [&]() -> detached {
        ec =
            co_await ready{interrupt, {&good.near.entry(), true, false}, {none.get(), true, false}};
        ++woken;
    };
    scenario();
    CHECK(woken == 1);
    CHECK(ec == boost::system::errc::bad_file_descriptor);
    waiter free{};
    CHECK(!good.near.entry().wait_readable(free));
    good.near.entry().forget(free);
}

} // namespace
} // namespace cleat::net::task_test
