// The order in which a worker serves connections when many are ready.

#include <cleat/core/busy_time_for_tests.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::net::priority_test {
namespace {

// Keeps the worker busy for longer than the time of any priority in a pass of its loop.
void overrun()
{
    keep_busy(2 * std::max({limits::handshake_time, limits::bulk_time, limits::crowd_time}));
}

// Connections of a worker, each with a letter. make_ready makes one ready, which then does its
// work. `served` is the letters in the order of the work.
class ready_order
{
public:
    struct connection
    {
        connection(worker& owner, char letter)
            : interrupt{owner}
            , entry{new readiness::entry{
                  owner.readiness(), unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}}}
            , name{letter}
        {
        }

        net::interrupt interrupt;
        entry_ptr entry;
        char name;
    };

    connection& add(char name, priority level, std::function<void()> work)
    {
        connection& made = all_.emplace_back(w, name);
        made.entry->set_priority(level);
        serve(made, std::move(work));
        return made;
    }

    static void make_ready(connection const& c)
    {
        std::uint64_t const one = 1;
        REQUIRE(::write(c.entry->fd(), &one, sizeof one) == sizeof one);
    }

    std::string const& run()
    {
        w.run();
        return served;
    }

    worker w;
    std::string served;

private:
    detached serve(connection& c, std::function<void()> work)
    {
        error_code const ec = co_await ready{c.interrupt, interest{c.entry.get(), true, false}};
        if (ec)
            co_return;
        served += c.name;
        if (work)
            work();
        if (served.size() == all_.size())
            w.stop();
    }

    std::deque<connection> all_;
};

TEST_CASE(
    "a connection that becomes ready is served before the next handshake, or the next turn of "
    "a transfer, however many of them wait")
{
    for (priority const others : {priority::handshake, priority::bulk}) {
        ready_order order;
        ready_order::connection& quiet = order.add('q', priority::established, {});
        auto const wakes_quiet = [&] {
            order.make_ready(quiet);
            overrun();
        };
        order.make_ready(order.add('1', others, wakes_quiet));
        for (char const name : {'2', '3', '4', '5'})
            order.make_ready(order.add(name, others, overrun));
        CHECK(order.run() == "1q2345");
    }
}

TEST_CASE("with more time for handshakes in a pass, all of them are served before the next event")
{
    ready_order order;
    order.w.set_handshake_time(std::chrono::seconds{60});
    ready_order::connection& quiet = order.add('q', priority::established, {});
    auto const wakes_quiet = [&] {
        order.make_ready(quiet);
        overrun();
    };
    order.make_ready(order.add('1', priority::handshake, wakes_quiet));
    for (char const name : {'2', '3', '4', '5'})
        order.make_ready(order.add(name, priority::handshake, overrun));
    CHECK(order.run() == "12345q");
}

TEST_CASE(
    "connections that are ready together are served in order: established, transfers, handshakes")
{
    ready_order order;
    order.make_ready(order.add('h', priority::handshake, {}));
    order.make_ready(order.add('b', priority::bulk, {}));
    order.make_ready(order.add('e', priority::established, {}));
    CHECK(order.run() == "ebh");
}

TEST_CASE("signatures that wait come last in each pass, and one of them in each")
{
    ready_order order;
    for (char const name : {'1', '2', '3'}) {
        order.make_ready(
            order.add(static_cast<char>(name + 'x' - '1'), priority::signature, overrun));
        order.make_ready(order.add(name, priority::handshake, {}));
    }
    CHECK(order.run() == "123xyz");
    ready_order together;
    for (char const name : {'1', '2', '3'}) {
        together.make_ready(together.add(name, priority::handshake, overrun));
        together.make_ready(
            together.add(static_cast<char>(name + 'x' - '1'), priority::signature, overrun));
    }
    CHECK(together.run() == "1x2y3z");
}

TEST_CASE("no kind of work keeps the others from all of their time")
{
    ready_order order;
    for (char const name : {'1', '2', '3'}) {
        order.make_ready(order.add(name, priority::bulk, overrun));
        order.make_ready(
            order.add(static_cast<char>(name + 'a' - '1'), priority::handshake, overrun));
    }
    CHECK(order.run() == "1a2b3c");
}

TEST_CASE("a handshake that is ready when its worker stops comes to its end too")
{
    ready_order order;
    order.make_ready(order.add('1', priority::handshake, [&] {
        overrun();
        order.w.stop();
    }));
    order.make_ready(order.add('2', priority::handshake, {}));
    CHECK(order.run() == "1"); // The interrupt ended the other one, whose frame is freed.
}

} // namespace
} // namespace cleat::net::priority_test
