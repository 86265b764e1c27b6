#include "limits/stalled.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace cleat::app::stalled_test {
namespace {

// Relays that wait for their receivers, which read only what `take` reads.
struct scene
{
    ~scene()
    {
        for (std::unique_ptr<connection> const& each : connections)
            each->interrupt.raise(error::idle_timeout); // No wait outlives the scene.
    }

    struct connection
    {
        connection(scene& s, std::pair<unique_fd, unique_fd> ends)
            : interrupt{s.worker}
            , receiver{s.worker, std::move(ends.first)}
            , reader{std::move(ends.second)}
        {
        }

        // The kernel holds bytes for the reader.
        void fill()
        {
            std::array<std::byte, 1000> const bytes{};
            REQUIRE(receiver.send(bytes).bytes == bytes.size());
        }
        void take()
        {
            std::array<std::byte, 1000> bytes{};
            REQUIRE(::read(reader.get(), bytes.data(), bytes.size()) > 0);
        }

        net::interrupt interrupt;
        net::socket receiver;
        std::uint64_t taken = 0;
        unique_fd reader;
    };

    connection& open(char name)
    {
        connection& made = *connections.emplace_back(
            std::make_unique<connection>(*this, net::make_sockets(net::socket_kind::unix_pair)));
        made.fill();
        wait(made, name);
        return made;
    }

    // Any other reason than an eviction is what comes from the other side: the relay waits again.
    net::detached wait(connection& c, char name)
    {
        stalled place{&list, c.interrupt};
        error_code why;
        do {
            place.join(c.receiver, c.taken);
            why = co_await net::pause(c.interrupt);
            c.interrupt.clear();
        } while (why == error::handshake_timeout);
        place.leave();
        if (why == error::stalled_evicted)
            evicted += name;
    }

    void evict(std::chrono::milliseconds later, std::size_t count = 10)
    {
        list.evict(count, worker.now() + later);
    }

    net::worker worker;
    stalled_list list;
    std::string evicted; // Their names, in order.
    std::vector<std::unique_ptr<connection>> connections;
};

constexpr std::chrono::milliseconds after = limits::stalled_after;

} // namespace

TEST_CASE("a receiver that has taken nothing between two looks ends, the oldest first")
{
    scene s;
    s.open('a');
    s.open('b');
    s.evict(after - std::chrono::milliseconds{1});
    s.evict(after);
    s.evict(2 * after - std::chrono::milliseconds{1}); // It has been looked at once.
    CHECK(s.evicted.empty());
    CHECK(s.list.size() == 2);
    s.evict(2 * after);
    CHECK(s.evicted == "ab");
    CHECK(s.list.size() == 0);
}

TEST_CASE("a receiver that takes bytes stays, however slow it is")
{
    scene s;
    s.open('a');
    scene::connection& slow = s.open('b');
    slow.fill();
    s.evict(after);
    slow.take();
    s.evict(2 * after);
    CHECK(s.evicted == "a");
    slow.fill();
    s.evict(3 * after);
    CHECK(s.evicted == "a");
    s.evict(4 * after);
    CHECK(s.evicted == "ab");
}

TEST_CASE("so many are looked at and no more")
{
    scene s;
    for (char name : {'a', 'b', 'c'})
        s.open(name);
    s.evict(after, 2);
    s.evict(2 * after, 1); // The third one has not been looked at before.
    s.evict(2 * after, 1);
    CHECK(s.evicted == "a");
}

TEST_CASE("idle connections do not keep those from a look that hold bytes")
{
    scene s;
    for (char name : {'a', 'b', 'c'})
        s.open(name).take();
    s.open('d');
    s.evict(after, 1);
    s.evict(2 * after, 1);
    CHECK(s.evicted == "d");
}

TEST_CASE("bytes of the other side are no sign of life, and bytes for the receiver are")
{
    scene s;
    scene::connection& talks = s.open('a');
    scene::connection& moves = s.open('b');
    s.evict(after);
    talks.interrupt.raise(error::handshake_timeout);
    moves.taken = 1;
    moves.interrupt.raise(error::handshake_timeout);
    s.evict(2 * after);
    CHECK(s.evicted == "a");
}

TEST_CASE("a relay that goes on leaves the list, and one without a list is never in it")
{
    scene s;
    scene::connection& first = s.open('a');
    s.open('b');
    first.interrupt.raise(error::idle_timeout);
    CHECK(s.list.size() == 1);
    stalled none{nullptr, first.interrupt};
    none.join(first.receiver, 0);
    CHECK(s.list.size() == 1);
    s.evict(after);
    s.evict(2 * after);
    CHECK(s.evicted == "b");
}

} // namespace cleat::app::stalled_test
