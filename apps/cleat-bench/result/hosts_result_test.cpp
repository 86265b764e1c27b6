// The result of several hosts: one load, of which each host has a part.

#include "result/result.hpp"
#include "text/times.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::bench::hosts_result_test {
namespace {

using namespace std::chrono_literals;

result example()
{
    result found;
    found.target = "127.0.0.1:1";
    found.started = from_utc("2026-11-21T20:00:00.000000Z");
    found.measured = 2s;
    found.rate_asked = 100.5;
    found.counts.attempts = found.counts.ok = 200;
    for (unsigned i = 0; i != 200; ++i)
        found.counts.response.record(1'000'003 + i * 977);
    found.counts.timeline = {{100, 100, 0, 1, 1}, {100, 100, 0, 1, 1}};
    return found;
}

TEST_CASE("loads that end by a number are one if they began together")
{
    result const longer = example();
    result shorter = example();
    shorter.measured = 1s;
    CHECK_THROWS_WITH(
        static_cast<void>(merge({longer, shorter})),
        doctest::Contains("for 1.00 s of 2.00 s only"));
    result const sum = merge({longer, shorter}, together::the_begin);
    CHECK(sum.measured == 2s);
    CHECK(!sum.verdict.client_limited());
}

TEST_CASE("hosts that did not run together have a sum, which says so")
{
    result const first = example();
    result second = example();
    second.started += 300ms;
    result sum = merge({first, second}, together::the_begin);
    REQUIRE(sum.verdict.limits.size() == 1);
    CHECK(
        sum.verdict.limits.front() ==
        "all ran together for 1.70 s of 2.00 s only, so that this is not one load");
    CHECK(to_text(sum).find("CLIENT-LIMITED: all ran together for 1.70 s") != std::string::npos);
    second.started += 5s; // It begins after the end of the other one.
    sum = merge({first, second}, together::the_begin);
    CHECK(sum.verdict.limits.front().starts_with("all ran together for 0.00 ns of 2.00 s only"));
    CHECK(sum.counts.ok == 400);
    CHECK(sum.measured == 7300ms);
    CHECK(sum.rate() == doctest::Approx(400 / 7.3));
}

TEST_CASE("the hosts of a load are in its document, its text and its remarks")
{
    result sum = example();
    sum.hosts = {
        {.name = "a", .clock_error = 2ms, .copied = true, .attempts = 100, .ok = 90, .rate = 45},
        {.name = "b",
         .late = 12ms,
         .clock_error = 1ms,
         .limited = true,
         .attempts = 100,
         .ok = 90,
         .rate = 45}};
    CHECK(sum.hosts_lost() == 0);
    CHECK(sum.hosts_apart() == 15ms);
    sum.hosts.push_back({.name = "c", .lost = "No route to host"});
    CHECK(sum.hosts_lost() == 1);
    CHECK(sum.hosts_apart() == 15ms);
    std::string const json = to_json(sum);
    result const read = from_json(json, "test");
    CHECK(to_json(read) == json);
    std::string const text = to_text(read);
    for (char const* each :
         {"rate asked            100.5/s, 50.2/s of each of 2 hosts",
          "2 of 3, which began within 15.0 ms of each other",
          "a                   45.0/s, 90 ok of 100, with a copy of cleat-bench",
          "b                   45.0/s, 90 ok of 100, began 12.0 ms late, CLIENT-LIMITED",
          "c                   LOST: No route to host",
          "NOTE: the host c was lost, and the figures are of the other 2: No route to host",
          "NOTE: the host b began 12.0 ms after the others"})
        CHECK(text.find(each) != std::string::npos);
    result other = example();
    other.hosts = {{.name = "d"}};
    CHECK(merge({sum, other}).hosts.size() == 4);
    CHECK(to_json(example()).find("\"hosts\"") == std::string::npos);
}

} // namespace
} // namespace cleat::bench::hosts_result_test
