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

limit_plan one_connection_each()
{
    limit_plan made;
    made.connections = 10;
    made.clients = {.connections = 1, .table_size = 100};
    return made;
}

std::unique_ptr<client_table> new_table()
{
    return std::make_unique<client_table>(100, sip_key{1, 2});
}

TEST_CASE("without limits there is no table, and no end of connections")
{
    worker_limits limits{0, 4};
    limits.follow({}, nullptr);
    CHECK_FALSE(limits.limits_clients());
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
    worker_limits::client_answer const open = limits.admit(address, start);
    REQUIRE(open.verdict == verdict::admitted);

    limit_plan next = one_connection_each();
    next.clients.handshake_rate = next.clients.handshake_burst = 5;
    REQUIRE(next.clients.is_counted_alike(one_connection_each().clients));
    next.keeps_clients = true;
    limits.follow(next, nullptr);
    CHECK(limits.admit(address, start).verdict == verdict::too_many_connections);
    limits.release(open.place);
    CHECK(limits.admit(address, start).verdict == verdict::admitted);
}

TEST_CASE("another table begins anew, and does not count the ends of older connections")
{
    worker_limits limits{0, 1};
    limits.follow(one_connection_each(), new_table());
    worker_limits::client_answer const older = limits.admit(address, start);
    limit_plan next = one_connection_each();
    next.clients.prefixes.ipv4 = 24;
    CHECK_FALSE(next.clients.is_counted_alike(one_connection_each().clients));
    limits.follow(next, new_table());
    CHECK(limits.admit(address, start).verdict == verdict::admitted);
    limits.release(older.place);
    CHECK(limits.admit(address, start).verdict == verdict::too_many_connections);

    limits.follow({}, nullptr);
    limits.release(older.place);
    CHECK_FALSE(limits.limits_clients());
}

TEST_CASE("a worker's bucket gets its part of the tokens")
{
    limit_plan plan;
    plan.clients = {.handshake_rate = 10, .handshake_burst = 10, .table_size = 100};
    worker_limits limits{1, 2};
    limits.follow(plan, new_table());
    int at_once = 0;
    while (limits.admit(address, start).verdict == verdict::admitted)
        ++at_once;
    CHECK(at_once == 12); // 5, and three deviations.
    CHECK(limits.admit(address, start + 199ms).verdict == verdict::too_many_handshakes);
    CHECK(limits.admit(address, start + 200ms).verdict == verdict::admitted);
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
