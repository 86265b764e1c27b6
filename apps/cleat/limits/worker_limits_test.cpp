#include "limits/worker_limits.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>

namespace cleat::app::worker_limits_test {
namespace {

using namespace std::chrono_literals;
using verdict = client_table::verdict;

constexpr client_table::time_point start{1h};
constexpr std::array<std::uint8_t, 4> address{192, 0, 2, 1};

frontend_limit const one_connection{"[*]:443 0", 0, {.connections = 1}};

limit_plan one_connection_each()
{
    limit_plan made;
    made.connections = 10;
    made.clients = {.table_size = 100};
    return made;
}

client_table::verdict verdict_on(
    worker_limits& limits, frontend_limit const& limit, client_table::time_point now = start)
{
    return limits.admit(limits.scope(limit), address, now).verdict;
}

std::unique_ptr<client_table> new_table()
{
    return std::make_unique<client_table>(100, sip_key{1, 2});
}

TEST_CASE("without limits there is no table, and no end of connections")
{
    worker_limits limits{0, 4};
    limits.follow({}, nullptr);
    CHECK_FALSE(limits.scope({"[*]:443 0", 0}).is_on());
    CHECK(limits.connections_max() == worker_limits::unlimited);
    CHECK(limits.share(0) == worker_limits::unlimited);
    limits.release({}); // Of a connection that was not counted.
}

TEST_CASE("workers divide the limits of all connections")
{
    worker_limits first{0, 4};
    first.follow(one_connection_each(), new_table());
    CHECK(first.connections_max() == 3);
    worker_limits last{3, 4};
    last.follow(one_connection_each(), new_table());
    CHECK(last.connections_max() == 2);
    CHECK(last.share(4) == 1);
}

TEST_CASE("a plan that counts clients alike keeps what was counted")
{
    worker_limits limits{0, 1};
    limits.follow(one_connection_each(), new_table());
    worker_limits::client_answer const open =
        limits.admit(limits.scope(one_connection), address, start);
    REQUIRE(open.verdict == verdict::admitted);

    limit_plan next = one_connection_each();
    frontend_limit with_rate = one_connection;
    with_rate.clients.handshake_rate = with_rate.clients.handshake_burst = 5;
    REQUIRE(next.clients.is_counted_alike(one_connection_each().clients));
    next.keeps_clients = true;
    limits.follow(next, nullptr);
    CHECK(verdict_on(limits, with_rate) == verdict::too_many_connections);
    limits.release(open.place);
    CHECK(verdict_on(limits, with_rate) == verdict::admitted);
}

TEST_CASE("another table begins anew, and does not count the ends of older connections")
{
    worker_limits limits{0, 1};
    limits.follow(one_connection_each(), new_table());
    worker_limits::client_answer const older =
        limits.admit(limits.scope(one_connection), address, start);
    limit_plan next = one_connection_each();
    next.clients.prefixes.ipv4 = 24;
    CHECK_FALSE(next.clients.is_counted_alike(one_connection_each().clients));
    limits.follow(next, new_table());
    CHECK(verdict_on(limits, one_connection) == verdict::admitted);
    limits.release(older.place);
    CHECK(verdict_on(limits, one_connection) == verdict::too_many_connections);

    limits.follow({}, nullptr);
    limits.release(older.place);
    // A connection that began under the configuration before has a scope, and no table.
    CHECK(verdict_on(limits, one_connection) == verdict::admitted);
    CHECK(verdict_on(limits, one_connection) == verdict::admitted);
}

TEST_CASE("a scope with limits of its own counts its clients apart")
{
    worker_limits limits{0, 1};
    limits.follow(one_connection_each(), new_table());
    frontend_limit const other{"[*]:444 0", 0, {.connections = 1}};
    frontend_limit const own{"[*]:445 0", 0, {.connections = 2}, true};
    frontend_limit const route{"[*]:443 0 route sni a.test", 0, {.connections = 1}, true};
    CHECK(verdict_on(limits, one_connection) == verdict::admitted);
    CHECK(verdict_on(limits, other) == verdict::too_many_connections); // As one with the first.
    CHECK(verdict_on(limits, own) == verdict::admitted);
    CHECK(verdict_on(limits, own) == verdict::admitted);
    CHECK(verdict_on(limits, own) == verdict::too_many_connections);
    CHECK(verdict_on(limits, route) == verdict::admitted);
    CHECK(verdict_on(limits, route) == verdict::too_many_connections);
}

TEST_CASE("a scope that keeps its name keeps its counts, whatever its limit")
{
    worker_limits limits{0, 1};
    limits.follow(one_connection_each(), new_table());
    frontend_limit own{"[*]:445 0", 0, {.connections = 2}, true};
    CHECK(verdict_on(limits, own) == verdict::admitted);
    limit_plan next = one_connection_each();
    next.keeps_clients = true;
    limits.follow(next, nullptr);
    own.clients.connections = 1;
    CHECK(verdict_on(limits, own) == verdict::too_many_connections);
    own.name = "[*]:446 0";
    CHECK(verdict_on(limits, own) == verdict::admitted);
}

TEST_CASE("a worker's bucket gets its part of the tokens")
{
    frontend_limit const ten{"[*]:443 0", 0, {.handshake_rate = 10, .handshake_burst = 10}};
    worker_limits limits{1, 2};
    limits.follow(one_connection_each(), new_table());
    int at_once = 0;
    while (verdict_on(limits, ten) == verdict::admitted)
        ++at_once;
    CHECK(at_once == 12); // 5, and three deviations.
    CHECK(verdict_on(limits, ten, start + 199ms) == verdict::too_many_handshakes);
    CHECK(verdict_on(limits, ten, start + 200ms) == verdict::admitted);
}

TEST_CASE("a frontend's connections are counted over configurations")
{
    worker_limits limits{0, 1};
    limits.follow({}, nullptr);
    frontend_connections& kept = limits.frontend("[*]:443 0");
    frontend_connections& idle = limits.frontend("[*]:444 0");
    frontend_connections& busy = limits.frontend("[*]:445 0");
    ++kept.open;
    ++busy.open;
    CHECK(&limits.frontend("[*]:443 0") == &kept);

    limits.follow({}, nullptr); // Its listener may still accept for the configuration before.
    CHECK(&limits.frontend("[*]:443 0") == &kept);
    CHECK(idle.open == 0);
    limits.follow({}, nullptr); // The idle one is forgotten.
    CHECK(limits.frontend("[*]:443 0").open == 1);
    CHECK(limits.frontend("[*]:445 0").open == 1);
    CHECK(limits.frontend("[*]:444 0").open == 0);
}

} // namespace
} // namespace cleat::app::worker_limits_test
