#include "connection/client_address.hpp"
#include "upstream/balancer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace cleat::app::balancer_test {
namespace {

using namespace std::chrono_literals;
using counts = std::vector<int>;

constexpr balancer::time_point start{};

upstream_plan plan_of(balance strategy, std::vector<unsigned> const& weights)
{
    upstream_plan plan;
    plan.strategy = strategy;
    for (unsigned const each : weights)
        plan.servers.push_back({fmt::format("[10.0.0.{}]:80", plan.servers.size()), {}, each});
    return plan;
}

// How many of `connections` that end at once go to each server.
counts spread(balancer& servers, int connections)
{
    counts found(servers.size());
    for (int i = 0; i < connections; ++i)
        ++found[servers.choose(start, static_cast<std::uint64_t>(i), {}).value()];
    return found;
}

void eject(balancer& servers, std::size_t server)
{
    for (unsigned i = 0; i < servers.rule().failures; ++i)
        servers.ejection_of(server).failed(start, servers.rule(), false);
}

std::vector<std::size_t> order_of(balancer& servers, balancer::time_point now)
{
    std::vector<std::size_t> found;
    server_set tried;
    while (std::optional<std::size_t> const next = servers.choose(now, 7, tried)) {
        tried.insert(*next);
        found.push_back(*next);
    }
    return found;
}

bool is_near(int found, double expected)
{
    return std::abs(found - expected) <= 0.02 * expected;
}

} // namespace

TEST_CASE("by turns, servers get their weights' shares exactly, and none twice without need")
{
    upstream_plan const plan = plan_of(balance::round_robin, {5, 1, 1});
    balancer servers{plan};
    std::string turns;
    for (int i = 0; i < 7; ++i)
        turns += static_cast<char>('a' + servers.choose(start, 0, {}).value());
    CHECK(turns == "aabacaa");
    CHECK(spread(servers, 70'000) == counts{50'000, 10'000, 10'000});
}

TEST_CASE("the fewest connections for its weight choose the server")
{
    upstream_plan const plan = plan_of(balance::least_connections, {1, 2, 1});
    balancer servers{plan};
    std::vector<int> open(3);
    for (int i = 0; i < 100'000; ++i) {
        std::size_t const chosen = servers.choose(start, 0, {}).value();
        servers.began(chosen);
        ++open[chosen];
    }
    CHECK(open == std::vector{25'000, 50'000, 25'000});
    for (int i = 0; i < 1000; ++i)
        servers.ended(2);
    for (int i = 0; i < 1000; ++i) {
        CHECK(servers.choose(start, 0, {}).value() == 2);
        servers.began(2);
    }
}

TEST_CASE("without connections at the same time, the fewest are everywhere: by turns")
{
    upstream_plan const plan = plan_of(balance::least_connections, {3, 1});
    balancer servers{plan};
    CHECK(spread(servers, 4000) == counts{3000, 1000});
}

TEST_CASE("a client stays with its server, and shares are those of the weights")
{
    upstream_plan const plan = plan_of(balance::client_hash, {1, 2, 1});
    balancer servers{plan};
    balancer other_worker{plan};
    counts found(3);
    std::mt19937_64 random{1};
    for (int i = 0; i < 100'000; ++i) {
        std::uint64_t const client = random();
        std::size_t const chosen = servers.choose(start, client, {}).value();
        ++found[chosen];
        REQUIRE(other_worker.choose(start, client, {}) == chosen);
    }
    CHECK(is_near(found[0], 25'000));
    CHECK(is_near(found[1], 50'000));
    CHECK(is_near(found[2], 25'000));
}

TEST_CASE("a server that goes moves its own clients only, and they come back with it")
{
    upstream_plan const plan = plan_of(balance::client_hash, {1, 1, 1, 1});
    upstream_plan fewer = plan;
    fewer.servers.erase(fewer.servers.begin() + 1);
    balancer before{plan};
    balancer after{fewer};
    std::mt19937_64 random{2};
    for (int i = 0; i < 10'000; ++i) {
        std::uint64_t const client = random();
        std::string const& was = plan.servers[before.choose(start, client, {}).value()].name;
        std::string const& is = fewer.servers[after.choose(start, client, {}).value()].name;
        if (was != plan.servers[1].name)
            REQUIRE(was == is);
    }
}

TEST_CASE("a client's key is that of its address, whatever the port")
{
    auto const key = [](char const* host, char const* port) {
        return client_key(address_bytes(net::resolve(host, port).value().front()));
    };
    CHECK(key("192.0.2.1", "1000") == key("192.0.2.1", "2000"));
    CHECK(key("192.0.2.1", "1000") != key("192.0.2.2", "1000"));
    CHECK(
        client_key(address_bytes(net::unix_address("/x").value())) ==
        client_key(address_bytes(net::address{})));
}

TEST_CASE("backups serve while no other server does, and servers that are left out come last")
{
    for (balance const strategy :
         {balance::first, balance::round_robin, balance::least_connections, balance::client_hash}) {
        upstream_plan plan = plan_of(strategy, {1, 1, 1});
        plan.servers[0].is_backup = true;
        balancer servers{plan};
        CHECK(spread(servers, 100)[0] == 0);
        CHECK(order_of(servers, start).back() == 0);
        eject(servers, 1);
        CHECK(order_of(servers, start) == std::vector<std::size_t>{2, 0, 1});
        eject(servers, 2);
        CHECK(order_of(servers, start).front() == 0);
        eject(servers, 0);
        CHECK(order_of(servers, start).size() == 3); // All are tried rather than none.
        CHECK(order_of(servers, start).back() == 0);
        CHECK(order_of(servers, start + 10s).back() == 0);
    }
}

TEST_CASE("weights and fewest connections are exact also where they change")
{
    upstream_plan const plan = plan_of(balance::round_robin, {1, 1, 1});
    balancer servers{plan};
    CHECK(spread(servers, 999) == counts{333, 333, 333});
    servers.change(start, 0, 4, server_state::serving);
    counts const found = spread(servers, 100'000);
    CHECK(is_near(found[0], 66'667));
    CHECK(is_near(found[1], 16'667));
    CHECK(is_near(found[2], 16'667));
    servers.change(start, 1, 1, server_state::drained);
    CHECK(spread(servers, 50'000)[1] == 0);
    servers.change(start, 1, 1, server_state::serving);
    CHECK(is_near(spread(servers, 60'000)[1], 10'000));
}

TEST_CASE("the fewest connections are within 2 percent while connections come and go")
{
    upstream_plan const plan = plan_of(balance::least_connections, {1, 2, 5});
    balancer servers{plan};
    counts began(3);
    std::vector<std::size_t> open;
    std::mt19937_64 random{3};
    for (int i = 0; i < 100'000; ++i) {
        std::size_t const chosen = servers.choose(start, 0, {}).value();
        servers.began(chosen);
        ++began[chosen];
        open.push_back(chosen);
        if (open.size() > 800) { // One of them ends, any one.
            std::swap(open[random() % open.size()], open.back());
            servers.ended(open.back());
            open.pop_back();
        }
    }
    CHECK(is_near(began[0], 12'500));
    CHECK(is_near(began[1], 25'000));
    CHECK(is_near(began[2], 62'500));
}

TEST_CASE("the weight of a server that comes back rises within slow_start")
{
    for (balance const strategy : {balance::round_robin, balance::client_hash}) {
        upstream_plan plan = plan_of(strategy, {2, 2});
        plan.slow_start = 100s;
        balancer servers{plan};
        CHECK(is_near(spread(servers, 100'000)[0], 50'000)); // Not at the start.
        servers.change(start, 0, 2, server_state::down);
        servers.change(start, 0, 2, server_state::serving);
        CHECK(spread(servers, 1000)[0] <= 3);
        auto const share = [&](std::chrono::seconds after) {
            counts found(2);
            for (std::uint64_t i = 0; i < 100'000; ++i)
                ++found[servers.choose(start + after, i * 0x9e3779b97f4a7c15U, {}).value()];
            return found[0];
        };
        CHECK(is_near(share(50s), 33'333)); // Half of a weight of two, beside two.
        servers.change(start + 50s, 1, 1, server_state::serving);
        CHECK(is_near(share(50s), 50'000)); // Another table does not end it.
        servers.change(start + 50s, 1, 2, server_state::serving);
        CHECK(is_near(share(100s), 50'000));
        CHECK(is_near(share(1000s), 50'000));
    }
}

TEST_CASE("a slow start that ended long ago has ended, whatever the weight")
{
    upstream_plan plan = plan_of(balance::least_connections, {1, 1});
    plan.slow_start = 1s;
    balancer servers{plan};
    constexpr unsigned heaviest = 65'535'000; // Of a record of SRV, times 1000.
    servers.change(start, 0, heaviest, server_state::down);
    servers.change(start, 0, heaviest, server_state::serving);
    std::size_t found = 0;
    for (int i = 0; i < 100; ++i) {
        std::size_t const chosen = servers.choose(start + 100h, 0, {}).value();
        servers.began(chosen);
        found += chosen == 0 ? 1 : 0;
    }
    CHECK(found >= 99);
}

TEST_CASE("a place without a target is never chosen, and one that gets it has its rank")
{
    upstream_plan plan = plan_of(balance::round_robin, {3, 1, 1});
    plan.servers[1].is_place = plan.servers[2].is_place = true;
    balancer servers{plan};
    CHECK(servers.left({}) == 1);
    CHECK(spread(servers, 8) == counts{8, 0, 0});
    servers.change(start, 1, 1, server_state::serving);
    servers.change(start, 2, 5, server_state::serving);
    servers.set_backup(2, true);
    CHECK(spread(servers, 8) == counts{6, 2, 0});
    CHECK(order_of(servers, start).back() == 2);
}

TEST_CASE("the first server that serves gets all connections")
{
    upstream_plan const plan = plan_of(balance::first, {1, 1, 1});
    balancer servers{plan};
    CHECK(spread(servers, 10) == counts{10, 0, 0});
    eject(servers, 0);
    CHECK(spread(servers, 10) == counts{0, 10, 0});
    CHECK(servers.choose(start + 10s, 0, {}) == 0);
}

TEST_CASE("a single server is tried once, also while it is left out")
{
    upstream_plan const plan = plan_of(balance::least_connections, {1});
    balancer servers{plan};
    eject(servers, 0);
    CHECK(order_of(servers, start) == std::vector<std::size_t>{0});
}

} // namespace cleat::app::balancer_test
