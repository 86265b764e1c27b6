#include "health/upstream_states.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace cleat::app::upstream_states_test {
namespace {

net::address address_of(std::string const& port)
{
    return net::resolve("192.0.2.1", port).value().front();
}

upstream_plan plan_of(std::string const& name, std::vector<server_plan> servers)
{
    upstream_plan plan;
    plan.name = name;
    plan.servers = std::move(servers);
    return plan;
}

struct two_upstreams
{
    two_upstreams()
    {
        states.follow(states.following(
            {plan_of("one", {{"a", {address_of("1")}}}),
             plan_of("two", {{"a", {address_of("2")}}, {"b", {address_of("3")}, 5}})}));
    }

    upstream_states states{2, [this](std::size_t upstream, upstream_table const& table) {
                               published.emplace_back(upstream, table);
                           }};
    std::vector<std::pair<std::size_t, upstream_table>> published;
};

} // namespace

TEST_CASE_FIXTURE(two_upstreams, "a change is published with the whole table of its upstream")
{
    CHECK(published.empty());
    CHECK(states.change("two", "b", [](known_server& one) { one.is_drained = true; }));
    REQUIRE(published.size() == 1);
    auto const& [number, table] = published.front();
    CHECK(number == 1);
    REQUIRE(table.size() == 2);
    CHECK(table[0].state == server_state::serving);
    CHECK(table[0].addresses.front().port() == 2);
    CHECK(table[1].state == server_state::drained);
    CHECK(table[1].weight == 5);
}

TEST_CASE_FIXTURE(two_upstreams, "a server that becomes a backup is a change of the table")
{
    CHECK(states.change("two", "a", [](known_server& one) { one.is_backup = true; }));
    REQUIRE(published.size() == 1);
    CHECK(published.front().second[0].is_backup);
}

TEST_CASE_FIXTURE(two_upstreams, "no table is published where the workers would see no change")
{
    std::uint64_t const before = states.version();
    CHECK(states.change(
        "one", "a", [](known_server& one) { one.check.state = check_state::passed; }));
    CHECK(states.version() != before);
    CHECK(states.set_addresses("one", "a", {address_of("1")}));
    CHECK(published.empty());
    CHECK(states.set_addresses("one", "a", {address_of("1"), address_of("2")}));
    CHECK(published.size() == 1);
}

TEST_CASE_FIXTURE(two_upstreams, "a server that is not there any more is no mistake of a thread's")
{
    CHECK_FALSE(states.set_addresses("two", "c", {}));
    CHECK_FALSE(states.set_addresses("three", "a", {}));
    CHECK(published.empty());
}

TEST_CASE_FIXTURE(two_upstreams, "a reload keeps what is known of a server, but not its addresses")
{
    states.change("two", "b", [](known_server& one) {
        one.is_drained = true;
        one.operators_weight = 7;
    });
    states.set_addresses("two", "b", {address_of("4")});
    CHECK(table_of(states.all()[1])[1].addresses.front().port() == 4);
    states.change("one", "a", [](known_server& one) { one.is_down = true; });
    published.clear();
    std::shared_ptr<counts_by_worker> const counts_before = table_of(states.all()[1])[1].counts;
    states.follow(states.following(
        {plan_of("two", {{"b", {address_of("5")}, 6}, {"c", {address_of("6")}}}),
         plan_of("new", {{"a", {address_of("1")}}})}));
    CHECK(published.empty());
    REQUIRE(states.size() == 2);
    server_row const b = table_of(states.all()[0])[0];
    CHECK(b.state == server_state::drained);
    CHECK(b.weight == 7);
    CHECK(b.addresses.front().port() == 5);
    CHECK(b.counts == counts_before);
    CHECK(b.counts->size() == 2);
    CHECK(table_of(states.all()[0])[1].state == server_state::serving);
    CHECK(table_of(states.all()[1])[0].state == server_state::serving); // Of another upstream.
}

TEST_CASE_FIXTURE(two_upstreams, "a reload that has not found a name keeps its addresses of now")
{
    states.set_addresses("two", "b", {address_of("4")});
    upstream_plan plan = plan_of("two", {{"a", {address_of("2")}}, {"b", {address_of("3")}}});
    plan.names.push_back({.watched = {}, .server = 1, .targets = {{}}, .is_kept = true});
    states.follow(states.following({plan}));
    CHECK(table_of(states.all()[0])[0].addresses.front().port() == 2);
    CHECK(table_of(states.all()[0])[1].addresses.front().port() == 4);
}

namespace {

// A service with a place for each target.
upstream_plan service_of(std::vector<std::string> const& targets)
{
    upstream_plan plan = plan_of("service", {});
    for (std::string const& each : targets) {
        server_plan place{"srv:s/" + std::to_string(plan.servers.size() + 1), {}};
        place.target = each;
        if (!each.empty())
            place.addresses = {address_of(std::to_string(each.front()))};
        plan.servers.push_back(place);
    }
    plan.check.is_on = true;
    return plan;
}

void drain_and_fail(known_server& one)
{
    one.is_drained = one.is_down = true;
    one.operators_weight = 7;
    one.check.state = check_state::failed;
}

bool is_fresh(known_server const& one)
{
    return !one.is_drained && !one.is_down && !one.operators_weight &&
           one.check.state == check_state::unknown;
}

} // namespace

TEST_CASE_FIXTURE(two_upstreams, "what is known of a target follows it to another place")
{
    states.follow(states.following({service_of({"a", "b", ""})}));
    states.change("service", "srv:s/1", drain_and_fail);
    std::shared_ptr<counts_by_worker> const counts = states.all()[0].servers[0].counts;
    states.follow(states.following({service_of({"c", "b", "a"})}));
    std::vector<known_server> const& servers = states.all()[0].servers;
    CHECK(is_fresh(servers[0]));
    CHECK(is_fresh(servers[1]));
    CHECK(servers[2].is_drained);
    CHECK(servers[2].is_down);
    CHECK(servers[2].operators_weight == 7);
    CHECK(servers[2].name == "srv:s/3");
    CHECK(servers[0].counts == counts); // Its metrics are the place's.
    CHECK(servers[2].counts != counts);
    REQUIRE(states.targets().size() == 3);
    CHECK(states.targets()[2].upstream == "service");
    CHECK(states.targets()[2].server == "srv:s/3");
    CHECK(states.targets()[2].target == "a");
}

TEST_CASE_FIXTURE(two_upstreams, "a place that another target gets begins anew")
{
    states.follow(states.following({service_of({"a", "b"})}));
    states.change("service", "srv:s/1", drain_and_fail);
    states.change("service", "srv:s/1", [](known_server& one) { one.place("a", {}); });
    CHECK(states.all()[0].servers[0].is_drained); // The target has gone, and may come back.
    states.change(
        "service", "srv:s/1", [](known_server& one) { one.place("c", {address_of("3")}); });
    CHECK(is_fresh(states.all()[0].servers[0]));
    states.change("service", "srv:s/1", drain_and_fail);
    states.change(
        "service", "srv:s/1", [](known_server& one) { one.place("d", {address_of("3")}); });
    CHECK_FALSE(states.all()[0].servers[0].is_drained);
    CHECK(states.all()[0].servers[0].is_down); // The checks go on at the same address.
}

TEST_CASE_FIXTURE(two_upstreams, "an operator's drain holds whatever the checks find")
{
    states.change("one", "a", [](known_server& one) { one.is_drained = one.is_down = true; });
    CHECK(table_of(states.all()[0])[0].state == server_state::drained);
    states.change("one", "a", [](known_server& one) { one.is_drained = false; });
    CHECK(table_of(states.all()[0])[0].state == server_state::down);
}

} // namespace cleat::app::upstream_states_test
