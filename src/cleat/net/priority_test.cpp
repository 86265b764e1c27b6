// Who is served first when more is ready than a worker can do at once.

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

namespace cleat::net {
namespace {

// Keeps the worker busy for longer than any kind of work has in a turn of its loop.
void overrun()
{
    auto const until =
        std::chrono::steady_clock::now() + 2 * std::max(limits::handshake_time, limits::bulk_time);
    while (std::chrono::steady_clock::now() < until) {
    }
}

// Connections of a worker, each with a letter. A connection is ready once it was told so, and does
// its work then; `served` has the letters in the order of that.
class ready_order
{
public:
    struct connection
    {
        connection(worker& on, char letter)
            : by{on}
            , entry{new readiness::entry{
                  on.readiness(), unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}}}
            , name{letter}
        {
        }

        interrupt by;
        entry_ptr entry;
        char name;
    };

    connection& add(char name, priority with, std::function<void()> work)
    {
        connection& made = all_.emplace_back(w, name);
        made.entry->set_priority(with);
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
        error_code const ec = co_await ready{c.by, interest{c.entry.get(), true, false}};
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
        ready_order story;
        ready_order::connection& quiet = story.add('q', priority::established, {});
        auto const wakes_quiet = [&] {
            story.make_ready(quiet);
            overrun();
        };
        story.make_ready(story.add('1', others, wakes_quiet));
        for (char const name : {'2', '3', '4', '5'})
            story.make_ready(story.add(name, others, overrun));
        CHECK(story.run() == "1q2345");
    }
}

TEST_CASE("what is ready together is served in this order: established, transfers, handshakes")
{
    ready_order story;
    story.make_ready(story.add('h', priority::handshake, {}));
    story.make_ready(story.add('b', priority::bulk, {}));
    story.make_ready(story.add('e', priority::established, {}));
    CHECK(story.run() == "ebh");
}

TEST_CASE("no kind of work keeps the others from all of their time")
{
    ready_order story;
    for (char const name : {'1', '2', '3'}) {
        story.make_ready(story.add(name, priority::bulk, overrun));
        story.make_ready(
            story.add(static_cast<char>(name + 'a' - '1'), priority::handshake, overrun));
    }
    CHECK(story.run() == "1a2b3c");
}

TEST_CASE("a handshake that is ready when its worker stops comes to its end too")
{
    ready_order story;
    story.make_ready(story.add('1', priority::handshake, [&] {
        overrun();
        story.w.stop();
    }));
    story.make_ready(story.add('2', priority::handshake, {}));
    CHECK(story.run() == "1"); // The other one was ended by its interrupt: its frame is gone.
}

} // namespace
} // namespace cleat::net
