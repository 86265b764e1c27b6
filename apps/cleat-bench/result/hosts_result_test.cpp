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
        static_cast<void>(merge({longer, shorter})), doctest::Contains("1.0 of 2.0 s only"));
    CHECK(merge({longer, shorter}, together::the_begin).measured == 2s);
    shorter.started += 300ms;
    CHECK_THROWS_WITH(
        static_cast<void>(merge({longer, shorter}, together::the_begin)),
        doctest::Contains("1.7 of 2.0 s only"));
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
