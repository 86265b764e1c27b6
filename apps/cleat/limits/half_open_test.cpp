#include "limits/half_open.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::half_open_test {
namespace {

// Connections of a worker, of which each waits for its client until its interrupt is raised.
struct scene
{
    struct connection
    {
        explicit connection(scene& s) : interrupt{s.worker} {}

        net::interrupt interrupt;
        half_open* place = nullptr; // While it waits.
    };

    connection& open(char name)
    {
        connection& made = *connections.emplace_back(std::make_unique<connection>(*this));
        wait(made, name);
        return made;
    }

    void evict(std::size_t count, std::chrono::milliseconds later = half_open_list::grace)
    {
        list.evict(count, worker.now() + later);
    }

    net::detached wait(connection& c, char name)
    {
        half_open place{list, c.interrupt};
        c.place = &place;
        error_code const why = co_await net::pause(c.interrupt);
        c.place = nullptr;
        if (why == error::handshake_evicted)
            evicted += name;
        if (on_end != nullptr)
            on_end->interrupt.raise(error::idle_timeout);
    }

    net::worker worker;
    half_open_list list;
    std::string evicted;          // Their names, in order.
    connection* on_end = nullptr; // Ended by the end of another one.
    std::vector<std::unique_ptr<connection>> connections;
};

} // namespace

TEST_CASE("the longest waiting end first")
{
    scene s;
    s.open('a');
    s.open('b');
    s.open('c');
    s.evict(2);
    CHECK(s.evicted == "ab");
    CHECK(s.list.size() == 1);
    s.evict(2);
    CHECK(s.evicted == "abc");
    CHECK(s.list.size() == 0);
    s.evict(1); // Of none.
    CHECK(s.evicted == "abc");
}

TEST_CASE("a client that has sent nothing ends before one that has")
{
    scene s;
    s.open('a').place->on_input();
    s.open('b');
    s.open('c').place->on_input();
    s.open('d');
    s.connections.front()->place->on_input(); // Sends more, and keeps its place.
    s.evict(3);
    CHECK(s.evicted == "bda");
    s.evict(1);
    CHECK(s.evicted == "bdac");
}

TEST_CASE("a young connection does not give way")
{
    scene s;
    s.open('a');
    s.open('b').place->on_input();
    s.evict(2, half_open_list::grace - std::chrono::milliseconds{1});
    CHECK(s.evicted.empty());
    CHECK(s.list.size() == 2);
    s.evict(2);
    CHECK(s.evicted == "ab");
}

TEST_CASE("a connection that ends otherwise leaves the list")
{
    scene s;
    scene::connection& first = s.open('a');
    s.open('b');
    scene::connection& last = s.open('c');
    first.interrupt.raise(error::handshake_timeout);
    last.interrupt.raise(error::handshake_timeout);
    CHECK(s.list.size() == 1);
    s.evict(3);
    CHECK(s.evicted == "b");
}

TEST_CASE("the end of one may end others")
{
    scene s;
    s.open('a');
    s.on_end = &s.open('b');
    s.open('c');
    s.evict(2);
    CHECK(s.evicted == "ac");
    CHECK(s.list.size() == 0);
}

} // namespace cleat::app::half_open_test
