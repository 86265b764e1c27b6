// The openings of WebSockets in a result: written, read, merged, and told.

#include "export/figure_list.hpp"
#include "report/report.hpp"
#include "result/result.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace cleat::bench::websocket_result_test {
namespace {

using namespace std::chrono_literals;

// Of a hundred openings five failed; the others took 1 ms to 95 ms, the last five after the load.
result run_of(websocket_use use = websocket_use::echo)
{
    result r;
    r.name = r.target = "localhost:1";
    r.started = std::chrono::system_clock::time_point{1'000'000s};
    r.measured = 10s;
    r.asked = {{"closed loop", "10 connections"}, {"WebSocket", std::string{name_of(use)}}};
    tally& counts = r.counts;
    counts.connections = 100;
    websocket_counts& sockets = counts.websocket.emplace();
    sockets.use = use;
    sockets.openings = 100;
    sockets.opened_in_time = 90;
    sockets.pings = 7;
    sockets.messages = 950;
    for (unsigned i = 1; i <= 95; ++i)
        sockets.opening.record(i * 1'000'000);
    counts.attempts = 955;
    counts.ok = 950;
    counts.failures[{stage::upgrade, "refused with status 403"}] = 5;
    for (int i = 0; i != 950; ++i)
        counts.response.record(200'000);
    counts.timeline.push_back({955, 950, 5, 950 * 200'000, 200'000});
    return r;
}

bool has(std::string const& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

TEST_CASE("a document is read as it was written")
{
    result const read = from_json(to_json(run_of(websocket_use::hold)), "a");
    REQUIRE(read.counts.websocket);
    websocket_counts const& sockets = *read.counts.websocket;
    CHECK(sockets.use == websocket_use::hold);
    CHECK(sockets.openings == 100);
    CHECK(sockets.opened() == 95);
    CHECK(sockets.opened_in_time == 90);
    CHECK(sockets.pings == 7);
    CHECK(sockets.messages == 950);
    CHECK(read.opening_rate() == doctest::Approx(9));
    CHECK(to_json(read) == to_json(run_of(websocket_use::hold)));
    result plain = run_of();
    plain.counts.websocket.reset();
    CHECK(!from_json(to_json(plain), "b").counts.websocket);
}

TEST_CASE("openings that failed rank behind all others")
{
    websocket_counts const sockets = *run_of().counts.websocket;
    CHECK(*sockets.opening_percentile(50) == doctest::Approx(50e6).epsilon(0.01));
    CHECK(sockets.opening_percentile(95));
    CHECK(!sockets.opening_percentile(96));
    std::string const document = to_json(run_of());
    CHECK(has(document, "\"p99_ns\":null"));
    std::string const text = to_text(run_of());
    CHECK(has(text, "openings              100, 5 failed (5 %), 9.0/s\n"));
    CHECK(has(text, "received              950 messages, 7 pings\n"));
    CHECK(has(text, "from the start of each message to the echo's last byte"));
    CHECK(has(text, "(950 messages ok in 10.0 s)"));
    CHECK(has(text, "upgrade    refused with status 403"));
    CHECK(has(to_prometheus(run_of()), "cleat_bench_opening_p90_seconds"));
    CHECK(!has(to_prometheus(run_of()), "cleat_bench_opening_p99_seconds"));
    CHECK(has(to_html({run_of()}), "\"opening_rate\""));
}

TEST_CASE("late starts are a part of the openings, where messages are timed alone")
{
    result late = run_of();
    late.rate_asked = 10;
    late.asked.front() = {"open loop", "10 connections/s, constant"};
    for (int i = 0; i != 100; ++i)
        late.counts.slip.record(1'000'000);
    CHECK(late.times_messages_alone());
    CHECK(judge(late).limits.empty()); // 1 ms of 50 ms.
    for (int i = 0; i != 1000; ++i)
        late.counts.slip.record(30'000'000);
    REQUIRE(judge(late).limits.size() == 1);
    CHECK(has(judge(late).limits.front(), "of the openings took"));
    late.asked.front() = {"kept connections", "10"}; // A message waits for a late start.
    CHECK(!late.times_messages_alone());
    CHECK(has(to_text(late), "from the intended start to the echo's last byte"));
}

TEST_CASE("results of one use are merged, and of two are not")
{
    result other = run_of();
    other.counts.websocket->pings = 3;
    result const sum = merge({run_of(), other});
    CHECK(sum.counts.websocket->openings == 200);
    CHECK(sum.counts.websocket->opened() == 190);
    CHECK(sum.counts.websocket->opened_in_time == 180);
    CHECK(sum.counts.websocket->pings == 10);
    CHECK(sum.counts.websocket->messages == 1900);
    CHECK_THROWS_WITH(
        static_cast<void>(merge({run_of(), run_of(websocket_use::hold)})),
        doctest::Contains("another use of WebSockets"));
    other.counts.websocket.reset();
    CHECK_THROWS_WITH(
        static_cast<void>(merge({run_of(), other})),
        doctest::Contains("another use of WebSockets"));
}

TEST_CASE("a document whose openings do not add up is refused")
{
    std::string text = to_json(run_of());
    std::string_view const key = "\"openings\":100";
    text.replace(text.find(key), key.size(), "\"openings\":90");
    CHECK_THROWS_WITH(
        static_cast<void>(from_json(text, "a")), doctest::Contains("more WebSockets were opened"));
}

} // namespace
} // namespace cleat::bench::websocket_result_test
