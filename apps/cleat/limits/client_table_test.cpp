#include "limits/client_table.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::app::client_table_test {
namespace {

using namespace std::chrono_literals;
using verdict = client_table::verdict;

constexpr sip_key key{1, 2};
constexpr client_table::time_point start{1h};

client_prefix client(std::uint32_t number)
{
    client_prefix made{};
    for (std::size_t i = 0; i < 4; ++i)
        made[i] = static_cast<std::uint8_t>(number >> i * 8);
    return made;
}

constexpr client_rules two_connections{.connections = 2};
// Ten a second, and three at once.
constexpr client_rules ten_handshakes{.token_interval = 100ms, .burst = 3};

bool is_admitted(
    client_table& table, std::uint32_t number, client_rules const& rules,
    client_table::time_point now)
{
    return table.admit(client(number), rules, now).verdict == verdict::admitted;
}

TEST_CASE("a client has as many connections as it may, and another one when one has ended")
{
    client_table table{100, key};
    client_table::answer const first = table.admit(client(1), two_connections, start);
    CHECK(first.verdict == verdict::admitted);
    CHECK(is_admitted(table, 1, two_connections, start));
    CHECK(table.admit(client(1), two_connections, start).verdict == verdict::too_many_connections);
    CHECK(is_admitted(table, 2, two_connections, start));
    table.release(first.place);
    CHECK(is_admitted(table, 1, two_connections, start));
    CHECK_FALSE(is_admitted(table, 1, two_connections, start + 24h));
}

TEST_CASE("a client begins its burst at once, and then a handshake for each token")
{
    client_table table{100, key};
    for (int i = 0; i < 3; ++i)
        CHECK(is_admitted(table, 1, ten_handshakes, start));
    CHECK(table.admit(client(1), ten_handshakes, start).verdict == verdict::too_many_handshakes);
    CHECK(is_admitted(table, 2, ten_handshakes, start));
    CHECK_FALSE(is_admitted(table, 1, ten_handshakes, start + 99ms));
    CHECK(is_admitted(table, 1, ten_handshakes, start + 100ms));
    CHECK_FALSE(is_admitted(table, 1, ten_handshakes, start + 101ms));
}

TEST_CASE("tokens are no more than the burst, however long the pause")
{
    client_table table{100, key};
    CHECK(is_admitted(table, 1, ten_handshakes, start));
    for (int i = 0; i < 3; ++i)
        CHECK(is_admitted(table, 1, ten_handshakes, start + 1h));
    CHECK_FALSE(is_admitted(table, 1, ten_handshakes, start + 1h));
}

TEST_CASE("a client at ten times its rate gets its rate")
{
    client_table table{100, key};
    int admitted = 0;
    for (int i = 0; i < 1000; ++i) // 10 s, a connection each 10 ms.
        admitted += is_admitted(table, 1, ten_handshakes, start + i * 10ms) ? 1 : 0;
    CHECK(admitted == 102); // The burst, and a token each 100 ms.
}

TEST_CASE("a client that has too many connections pays no token for another one")
{
    client_rules const both{.connections = 1, .token_interval = 1s, .burst = 2};
    client_table table{100, key};
    client_table::answer const first = table.admit(client(1), both, start);
    for (int i = 0; i < 10; ++i)
        CHECK(table.admit(client(1), both, start).verdict == verdict::too_many_connections);
    table.release(first.place);
    CHECK(is_admitted(table, 1, both, start));
}

TEST_CASE("connections are counted only where they have a limit")
{
    client_table table{100, key};
    CHECK(table.admit(client(1), ten_handshakes, start).place.number == client_table::place::none);
    table.release({}); // Nothing happens.
}

TEST_CASE("a client has a place for each salt, and each gets its own connections back")
{
    client_table table{100, key};
    client_rules const one{.connections = 1};
    client_table::answer const first = table.admit(client(1), one, start, 7);
    client_table::answer const second = table.admit(client(1), one, start, 8);
    CHECK(first.verdict == verdict::admitted);
    CHECK(second.verdict == verdict::admitted);
    table.release(first.place);
    CHECK(table.admit(client(1), one, start, 7).verdict == verdict::admitted);
    CHECK(table.admit(client(1), one, start, 8).verdict == verdict::too_many_connections);
}

TEST_CASE("a table has the places that were asked for, and its size for ever")
{
    client_table table{65'536, key};
    CHECK(table.size() >= 65'536);
    CHECK(table.size() < 65'536 + 7);
    std::size_t const memory = table.memory();
    CHECK(memory < 65'536 * 19);
    for (std::uint32_t i = 0; i < 1'000'000; ++i)
        static_cast<void>(table.admit(client(i), ten_handshakes, start));
    CHECK(table.memory() == memory);
}

TEST_CASE("few clients have no place as long as the table is not nearly full")
{
    client_table table{65'536, key};
    unsigned shared = 0;
    std::uint32_t next = 0;
    auto const add = [&](std::uint32_t more) {
        for (std::uint32_t const end = next + more; next < end; ++next)
            shared += table.admit(client(next), two_connections, start).is_shared ? 1U : 0U;
    };
    add(65'536 / 4);
    CHECK(shared < 65'536 / 4 / 1000);
    add(65'536 / 4);
    CHECK(shared < 65'536 / 2 / 50);
}

// A table of one set shows what happens in each.
TEST_CASE("clients of a full set share a place, and no client is driven out")
{
    client_table table{1, key};
    REQUIRE(table.size() == 7);
    for (std::uint32_t i = 1; i <= 7; ++i)
        for (int n = 0; n < 2; ++n)
            CHECK_FALSE(table.admit(client(i), two_connections, start).is_shared);

    client_table::answer const eighth = table.admit(client(8), two_connections, start);
    CHECK(eighth.verdict == verdict::admitted);
    CHECK(eighth.is_shared);
    CHECK(is_admitted(table, 9, two_connections, start));
    for (std::uint32_t i = 10; i < 1000; ++i) // However many come: they are as one client.
        CHECK(
            table.admit(client(i), two_connections, start).verdict ==
            verdict::too_many_connections);

    for (std::uint32_t i = 1; i <= 7; ++i) // None of the first has got free.
        CHECK_FALSE(is_admitted(table, i, two_connections, start));
    table.release(eighth.place);
    CHECK(is_admitted(table, 10, two_connections, start));
}

TEST_CASE("a client over its rate does not get free by a flood from other prefixes")
{
    client_table table{700, key};
    for (int i = 0; i < 3; ++i)
        CHECK(is_admitted(table, 1, ten_handshakes, start));
    for (std::uint32_t i = 2; i < 100'000; ++i)
        static_cast<void>(table.admit(client(i), ten_handshakes, start + 1ms));
    CHECK_FALSE(is_admitted(table, 1, ten_handshakes, start + 2ms));
}

TEST_CASE("an honest client keeps its place through a flood")
{
    client_table table{700, key};
    for (int second = 0; second < 10; ++second) {
        client_table::time_point const now = start + second * 1s;
        // Its place is free each second, so that it has to find one again before the flood.
        client_table::answer const honest = table.admit(client(1), ten_handshakes, now);
        CHECK(honest.verdict == verdict::admitted);
        CHECK_FALSE(honest.is_shared);
        for (std::uint32_t i = 2; i < 10'000; ++i)
            static_cast<void>(table.admit(client(i), ten_handshakes, now + 1ms));
        CHECK(is_admitted(table, 1, ten_handshakes, now + 2ms));
    }
}

TEST_CASE("a place that says nothing any more is another client's")
{
    client_table table{1, key};
    for (std::uint32_t i = 1; i <= 7; ++i)
        CHECK(is_admitted(table, i, ten_handshakes, start));
    CHECK(table.admit(client(8), ten_handshakes, start + 99ms).is_shared);
    CHECK_FALSE(table.admit(client(9), ten_handshakes, start + 100ms).is_shared);
}

} // namespace
} // namespace cleat::app::client_table_test
