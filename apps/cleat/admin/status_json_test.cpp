#include "admin/status_json.hpp"

#include <cleat/core/text_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::status_json_test {
namespace {

struct two_workers
{
    std::string json()
    {
        worker_source const sources[] = {
            {counts[0].get(), &workers[0], nullptr}, {counts[1].get(), &workers[1], nullptr}};
        return status_json({sources, facts, {}, {}, false});
    }

    void fail(std::size_t worker, std::size_t number, failure_example const& example)
    {
        failure_examples<failure_number_count>& examples = counts[worker]->examples;
        if (examples.count(number, {}))
            examples.keep(number, example);
    }

    std::unique_ptr<worker_counts> counts[2]{
        std::make_unique<worker_counts>(), std::make_unique<worker_counts>()};
    net::worker workers[2];
    admin_facts facts;
};

std::chrono::system_clock::time_point at(int second)
{
    return std::chrono::system_clock::time_point{std::chrono::seconds{second}};
}

} // namespace

TEST_CASE("upstreams have their servers")
{
    two_workers both;
    CHECK(contains(both.json(), "\"upstreams\": []"));
    known_server server;
    server.name = "/s";
    server.is_drained = true;
    server.check = {check_state::failed, "Connection refused", at(60)};
    both.facts.upstreams.push_back({.name = "app", .servers = {server}});
    CHECK(contains(
        both.json(),
        "\"upstreams\": [{\"name\": \"app\", \"servers\": [{\"server\": \"/s\", "
        "\"addresses\": [], \"state\": \"drained\", \"weight\": 1, \"configured_weight\": 1, "
        "\"check\": \"failed\", \"check_reason\": \"Connection refused\", "
        "\"check_changed\": \"1970-01-01T00:01:00.000Z\", \"open\": 0, \"waiting\": 0, "
        "\"ready\": 0, \"connections\": 0, \"failures\": 0}]}]"));
}

TEST_CASE("a reason has the failures of all workers, and the last example")
{
    two_workers both;
    CHECK(contains(both.json(), "\"failures\": []"));
    std::size_t const number = failure_number(failure_kind::reset);
    both.fail(0, number, {.time = at(60), .client = "192.0.2.1:1"});
    both.fail(1, number, {.time = at(120), .client = "192.0.2.2:2", .server_name = "<b>\"\xff"});
    both.fail(0, number, {.time = at(60), .client = "192.0.2.3:3"}); // Not kept: too early.
    both.fail(
        0, failure_number(close_reason::upstream_timeout),
        {.event = failure_event::connect, .time = at(1), .detail = "x"});
    CHECK(contains(
        both.json(),
        "\"failures\": [{\"reason\": \"reset\", \"count\": 3, \"event\": \"handshake-failed\", "
        "\"last\": \"1970-01-01T00:02:00.000Z\", \"client\": \"192.0.2.2:2\", \"frontend\": "
        "\"\", \"sni\": \"<b>\\\"\\ufffd\", \"alert\": \"\", \"detail\": \"\", \"subject\": \"\"}, "
        "{\"reason\": \"upstream-timeout\", \"count\": 1, \"event\": \"connect-failed\""));
}

TEST_CASE("each worker has its own numbers")
{
    two_workers both;
    both.counts[1]->traffic.add(traffic_count::opened, 3);
    both.counts[1]->traffic.add(traffic_count::bytes_down, 7);
    both.counts[1]->closed.add(close_reason::done);
    both.counts[1]->handshakes.add(handshake_kind::full_1_3, 2);
    both.counts[1]->handshakes_waiting = 5;
    std::string const json = both.json();
    CHECK(contains(json, "\"connections\": 0, \"open\": 0, \"handshakes\": 0"));
    CHECK(contains(
        json, "\"connections\": 3, \"open\": 2, \"handshakes\": 2, \"handshakes_failed\": 0, "
              "\"handshakes_waiting\": 5, \"bytes_up\": 0, \"bytes_down\": 7"));
}

TEST_CASE("the networks of clients whose handshakes were shed are added up over the workers")
{
    two_workers both;
    CHECK(contains(both.json(), "\"shed\": {\"handshakes\": 0, \"networks\": []}"));
    std::array<std::uint8_t, 4> const client{192, 0, 2, 7};
    std::array<std::uint8_t, 4> const other{198, 51, 100, 7};
    for (std::unique_ptr<worker_counts> const& each : both.counts) {
        each->closed.add(close_reason::handshake_shed);
        each->shed.add(client);
    }
    both.counts[1]->closed.add(close_reason::handshake_shed);
    both.counts[1]->shed.add(other);
    CHECK(contains(
        both.json(), "\"shed\": {\"handshakes\": 3, \"networks\": [{\"network\": "
                     "\"192.0.2.0/24\", \"count\": 2, \"excess\": 0}, {\"network\": "
                     "\"198.51.100.0/24\", \"count\": 1, \"excess\": 0}]}"));
}

TEST_CASE("certificates are few, whatever their number")
{
    two_workers both;
    both.facts.certificates = {
        .all = 100'000,
        .by_stage = {99'990, 4, 3, 2, 1},
        .by_days_left = {1, 0, 2, 3, 4, 99'990},
        .soonest = {
            {"a<b>.pem", {"a.example"}, 5, std::chrono::sys_seconds{}, expiry_stage::last}}};
    CHECK(contains(
        both.json(),
        "\"days_left_bounds\": [0, 1, 7, 30, 90], \"by_days_left\": [1, 0, 2, 3, 4, 99990], "
        "\"expiring\": {\"notice\": 4, \"warning\": 3, \"error\": 2}, "
        "\"soonest\": [{\"origin\": \"a<b>.pem\", \"names\": [\"a.example\"], \"name_count\": 5, "
        "\"end_seconds\": 0, \"grade\": \"error\"}]"));
}

TEST_CASE("with max-memory there is what is in use, and what has given way to it")
{
    two_workers both;
    CHECK(contains(both.json(), "\"memory\": null"));
    auto const memory = std::make_shared<memory_counts>();
    both.facts.memory = memory;
    CHECK(contains(both.json(), "\"memory\": null"));
    memory->limit = 100;
    memory->in_use = 95;
    memory->level = memory_level::full;
    memory->changes = 3;
    memory->failures = 4;
    for (std::unique_ptr<worker_counts> const& each : both.counts) {
        each->closed.add(close_reason::memory_limit);
        each->closed.add(close_reason::stalled_evicted);
    }
    both.counts[1]->closed.add(close_reason::handshake_evicted);
    CHECK(contains(
        both.json(), "\"memory\": {\"limit_bytes\": 100, \"used_bytes\": 95, \"level\": \"full\", "
                     "\"level_changes\": 3, \"connections_refused\": 2, \"handshakes_evicted\": 1, "
                     "\"stalled_evicted\": 2, \"reading_failures\": 4}"));
}

} // namespace cleat::app::status_json_test
