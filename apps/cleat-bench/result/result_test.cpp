// Results go through JSON and come back whole, add up exactly, and say when the generator was the
// limit.

#include "generate/session_pool.hpp"
#include "generate/target.hpp"
#include "result/histogram_log.hpp"
#include "result/result.hpp"
#include "text/times.hpp"

#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::bench::result_test {
namespace {

using namespace std::chrono_literals;

result example(unsigned seed)
{
    result r;
    r.name = "one \"with\" quotes";
    r.command = "cleat-bench load";
    r.target = "127.0.0.1:1";
    r.asked = {{"TLS", "1.3"}};
    r.environment = {{"kernel", "Linux"}};
    r.started = from_utc("2026-11-21T20:00:00.000000Z");
    r.measured = 2s;
    r.rate_asked = 100.5;
    r.worker_cpu = {1s, 500ms};
    r.worker_waited = {100ms, 200ms};
    r.worker_wall = {2s, 2s};
    r.server = server_side{{1, 2}, 3s, 1.5};
    tally& t = r.counts;
    t.interval_length = 100ms;
    for (unsigned i = 0; i != 200; ++i) {
        ++t.attempts;
        interval& current = t.interval_at(i * 10ms);
        ++current.attempted;
        if (i % 10 == 0) {
            ++t.failures[{stage::answer, "wrong status 503"}];
            ++current.failed;
            continue;
        }
        ++t.ok;
        ++current.ok;
        std::uint64_t const ns = 1'000'003 + i * 977 * seed;
        current.response_ns += ns;
        current.response_ns_max = std::max(current.response_ns_max, ns);
        t.response.record(ns);
        t.slip.record(i);
        t.lag.record(i * 1000);
        t.count_agreement("TLSv1.3", "TLS_AES_128_GCM_SHA256", i % 2 == 0 ? "X25519" : "P-256");
    }
    t.full = 180;
    t.bytes_down = UINT64_MAX / 2; // More than a double can hold exactly.
    return r;
}

TEST_CASE("a result is the same after JSON")
{
    result const before = example(3);
    std::string const text = to_json(before);
    result const after = from_json(text, "test");
    CHECK(to_json(after) == text);
    CHECK(after.counts.response.mean() == before.counts.response.mean());
    CHECK(after.counts.response.max() == before.counts.response.max());
    CHECK(after.counts.bytes_down == before.counts.bytes_down);
    CHECK(to_text(after) == to_text(before));
}

TEST_CASE("a damaged document is refused, with its file named")
{
    std::string const good = to_json(example(1));
    auto const broken = [&](std::string_view part, std::string_view replacement) {
        std::string text = good;
        std::size_t const place = text.find(part);
        REQUIRE(place != std::string::npos);
        text.replace(place, part.size(), replacement);
        CHECK_THROWS_WITH_AS(
            from_json(text, "x.json"), doctest::Contains("x.json"), std::runtime_error);
    };
    broken("\"ok\":180", "\"ok\":181");
    broken("\"hdr\":\"HIST", "\"hdr\":\"HISS");
    broken("\"kind\":\"load\"", "\"kind\":\"idle\"");
    broken("\"answer\"", "\"elsewhere\"");
    broken("{", "[");
}

TEST_CASE("paths of several results add up by their names")
{
    result a = example(1);
    result b = example(2);
    for (result* const each : {&a, &b}) {
        path_counts& shared = each->counts.paths.emplace_back();
        shared = {.path = "/shared", .attempts = 100, .ok = 90};
        shared.response.record(1'000'000, 90);
    }
    b.counts.paths.push_back({.path = "/alone", .attempts = 5, .ok = 0});
    result const sum = from_json(to_json(merge({a, b})), "test");
    REQUIRE(sum.counts.paths.size() == 2);
    path_counts const& shared = sum.counts.paths[0];
    CHECK(shared.path == "/shared");
    CHECK(shared.attempts == 200);
    CHECK(shared.ok == 180);
    CHECK(shared.response.count() == 180);
    CHECK(shared.response_percentile(90).has_value());
    CHECK_FALSE(shared.response_percentile(91).has_value());
    CHECK(sum.counts.paths[1].path == "/alone");
    CHECK(to_text(sum).find("/alone                5 attempts, 5 failed") != std::string::npos);
}

TEST_CASE("results add up exactly, and a later one is later on the timeline")
{
    result const a = example(1);
    result b = example(2);
    b.started += 190ms; // Of two seconds: together for nine tenths, and two intervals behind.
    b.drain = 1s;
    b.counts.drained = 7;
    b.asked = {{"TLS", "1.2"}};
    result const sum = merge({b, a});
    CHECK(sum.counts.attempts == 400);
    CHECK(sum.counts.response.count() == 360);
    CHECK(sum.counts.failures.at({stage::answer, "wrong status 503"}) == 40);
    CHECK(*sum.rate_asked == 201);
    CHECK(sum.started == a.started);
    CHECK(sum.measured == 2190ms);
    CHECK(sum.drain == 1s);
    CHECK(sum.counts.drained == 7);
    CHECK(sum.worker_cpu.size() == 4);
    CHECK(sum.worker_waited.size() == 4);
    REQUIRE(sum.counts.timeline.size() == 22);
    CHECK(sum.counts.timeline[1].attempted == a.counts.timeline[1].attempted);
    CHECK(sum.counts.timeline[2].attempted == 20);
    CHECK(sum.counts.timeline[21].attempted == b.counts.timeline[19].attempted);
    CHECK(sum.counts.agreed.size() == 2);
    std::uint64_t agreed = 0;
    for (agreement const& each : sum.counts.agreed)
        agreed += each.count;
    CHECK(agreed == 360);
    CHECK(from_json(to_json(sum), "sum").environment == sum.environment);
    result odd = example(2);
    odd.counts.interval_length = 200ms;
    CHECK_THROWS_AS(static_cast<void>(merge({a, odd})), std::runtime_error);
    CHECK_THROWS_AS(static_cast<void>(merge({})), std::runtime_error);
}

TEST_CASE("a sum has the settings of each generator, also a sum of sums")
{
    result a = example(1);
    result b = example(2);
    b.asked = {{"TLS", "1.2"}};
    result c = example(3);
    c.asked = {{"TLS", "1.2-1.3"}};
    std::vector<fact> const all{
        {"TLS", "1.3"},
        {"generator 2", ""},
        {"TLS", "1.2"},
        {"generator 3", ""},
        {"TLS", "1.2-1.3"}};
    CHECK(merge({a, b, c}).asked == all);
    CHECK(merge({merge({a, b}), c}).asked == all);
    CHECK(merge({a, merge({b, c})}).asked == all);
    std::string const text = to_text(merge({a, b}));
    CHECK(text.find("127.0.0.1:1, TLS 1.3\ngenerator 2: TLS 1.2\n") != std::string::npos);
}

TEST_CASE("results that did not run together are not added up")
{
    auto const refused = [](std::vector<result> const& parts, char const* why) {
        CHECK_THROWS_WITH_AS(
            static_cast<void>(merge(parts)), doctest::Contains(why), std::runtime_error);
    };
    result const a = example(1);
    refused({a, a}, "results 1 and 2 are the same");
    refused({a, example(2), a}, "results 1 and 3 are the same");
    result b = example(2);
    b.started += 300ms;
    refused({a, b}, "--start-at");
    b.started = from_utc("2020-01-01T00:00:00Z");
    refused({a, b}, "--start-at");
    result shorter = example(2);
    shorter.measured = 1s;
    refused({a, shorter}, "1.00 s of 2.00 s");
    // Together for years, a timeline of nanoseconds: there is no memory for that.
    result old = example(1);
    result late = example(2);
    old.measured = late.measured = std::chrono::hours{24 * 365 * 10};
    old.counts.interval_length = late.counts.interval_length = 1ns;
    late.started += std::chrono::hours{24};
    refused({old, late}, "too long");
}

TEST_CASE("early data is reported where it was asked for, and adds up")
{
    result const without = example(1);
    CHECK(to_json(without).find("early_data") == std::string::npos);
    CHECK(remarks_on(without).empty());

    result with_early = example(2);
    with_early.counts.offered = 30;
    with_early.counts.early = early_counts{.offered = 25, .accepted = 20, .rejected = 5};
    std::string const text = to_json(with_early);
    CHECK(to_json(from_json(text, "test")) == text);
    CHECK(
        to_text(with_early).find("25 offered, 20 accepted (80.00 %), 5 rejected") !=
        std::string::npos);
    CHECK(remarks_on(with_early).empty());
    result again = with_early; // From another machine.
    again.environment = {{"kernel", "another"}};
    for (result const& sum :
         {merge({with_early, without, again}), merge({without, with_early, again})}) {
        REQUIRE(sum.counts.early);
        CHECK(sum.counts.early->offered == 50);
        CHECK(sum.counts.early->accepted == 40);
        CHECK(sum.counts.early->rejected == 10);
    }
}

TEST_CASE("a server that accepts no early data is reported, with the cure")
{
    result r = example(1);
    auto const remark = [&](early_counts early, std::uint64_t sessions) {
        r.counts.early = early;
        r.counts.offered = sessions;
        REQUIRE(remarks_on(r).size() == 1);
        CHECK(to_text(r).find("NOTE: " + remarks_on(r).front()) != std::string::npos);
        return remarks_on(r).front();
    };
    CHECK(remark({}, 0).find("no session") != std::string::npos);
    CHECK(remark({}, 9).find("do not allow it") != std::string::npos);
    CHECK(remark({.offered = 9, .rejected = 9}, 9).find("rejected all") != std::string::npos);
}

TEST_CASE("the generator says when it was the limit, and what to do")
{
    result fine = example(1);
    CHECK(!judge(fine).client_limited());
    result busy = fine;
    busy.worker_cpu = {1900ms, 0ms};
    CHECK(judge(busy).client_limited());
    result late = fine;
    late.counts.slip.record(5'000'000, 100);
    CHECK(judge(late).client_limited());
    late.rate_asked.reset(); // A closed loop has no time to be late for.
    CHECK(!judge(late).client_limited());
    result starved = fine;
    starved.rate_asked.reset();
    starved.worker_waited = {0ms, 1300ms};
    REQUIRE(judge(starved).limits.size() == 1);
    CHECK(judge(starved).limits.front().find("wait for a core 65 %") != std::string::npos);
    result tardy = fine;
    tardy.counts.lag.record(26'000'000, 30);
    REQUIRE(judge(tardy).limits.size() == 1);
    CHECK(judge(tardy).limits.front().find("event loop") != std::string::npos);
    for (char const* kind : {"no ports", "no files", "no memory"}) {
        result poor = fine;
        poor.counts.failures[{stage::start, kind}] = 1;
        verdict const v = judge(poor);
        CHECK(v.limits.size() == 1);
        CHECK(v.cures.size() == 1);
    }
}

TEST_CASE("without measurements there is no figure and no verdict")
{
    result none = example(1);
    none.counts = tally{};
    none.measured = 0ns;
    none.worker_cpu = {0s};
    none.worker_wall = {0s};
    CHECK(!judge(none).client_limited());
    std::string const text = to_text(none);
    CHECK(text.find("Nothing was measured") != std::string::npos);
    CHECK(text.find("per transaction") == std::string::npos);
    CHECK(text.find("busiest of 1 workers 0 % busy") != std::string::npos);
    CHECK(to_json(from_json(to_json(none), "test")) == to_json(none));
    none.measured = 1s;
    none.counts.attempts = 1;
    none.counts.failures[{stage::connect, "refused"}] = 1;
    CHECK(to_text(none).find("per transaction") == std::string::npos);
}

TEST_CASE("an older result without drain, lag and waits is read")
{
    std::string text = to_json(example(1));
    auto const leave_out = [&](std::string_view first, std::string_view next) {
        std::size_t const begin = text.find(first);
        REQUIRE(begin != std::string::npos);
        std::size_t const end = text.find(next, begin + 1);
        REQUIRE(end != std::string::npos);
        text.erase(begin, end - begin);
    };
    leave_out("\"drain_ns\"", "\"partial\"");
    leave_out("\"worker_waited_ns\"", "\"server\"");
    leave_out(",\"lag\"", "},\"drained");
    leave_out("\"drained\"", "\"timeline\"");
    leave_out(",\"cores\"", "}");
    result const old = from_json(text, "old");
    CHECK(old.drain == 0ns);
    CHECK(old.worker_waited.empty());
    REQUIRE(old.server);
    CHECK(old.server->cores == 1.5);
}

TEST_CASE("an open loop reports answers that came in the drain")
{
    result late = example(1);
    CHECK(remarks_on(late).empty());
    late.drain = 1s;
    late.counts.drained = 100;
    late.counts.pending_at_half = 100; // They are what is under way at any time.
    REQUIRE(remarks_on(late).size() == 1);
    CHECK(late.kept_up());
    CHECK(remarks_on(late).front().find("100 of 200") != std::string::npos);
    CHECK(remarks_on(late).front().find("50.0/s within it") != std::string::npos);
    late.rate_asked.reset();
    CHECK(remarks_on(late).empty());
}

TEST_CASE("a queue that grows is an overload, and the rate is what was done in the time")
{
    result slow = example(1);
    slow.drain = 4s;
    slow.counts.drained = 100;
    slow.counts.drained_ok = 90;
    slow.counts.pending_at_half = 50;
    CHECK(!slow.kept_up());
    CHECK(slow.rate() == doctest::Approx(45)); // 180 were ok, 90 of them in the two seconds.
    CHECK(slow.drain_rate() == doctest::Approx(22.5));
    REQUIRE(remarks_on(slow).size() == 1);
    CHECK(remarks_on(slow).front() == overload_of(slow));
    CHECK(overload_of(slow).find("ended, and took 4.00 s more (22.5/s); ") != std::string::npos);
    slow.counts.failures[{stage::start, std::string{connection_busy}}] = 10;
    CHECK(
        overload_of(slow).find("ended: 10 of these were not sent at all, as their connection was "
                               "busy, and the others took 4.00 s more") != std::string::npos);
    slow.counts.failures[{stage::start, std::string{connection_busy}}] = 100;
    CHECK(
        overload_of(slow).find("100 of 200 transactions were still waiting when the load ended: "
                               "none of these was sent at all, as their connection was busy; ") !=
        std::string::npos);
    slow.counts.failures.erase({stage::start, std::string{connection_busy}});
    CHECK(to_text(slow).starts_with("OVERLOADED: it did not keep up: 45.0/s were done of 100.5/s"));
    std::string const text = to_json(slow);
    CHECK(text.find("\"kept_up\":false") != std::string::npos);
    CHECK(to_json(from_json(text, "test")) == text);
    result shut = slow; // A closed loop asks for no rate.
    shut.rate_asked.reset();
    CHECK(shut.kept_up());
    result climb = slow; // A staircase is meant to end so.
    climb.climbs = true;
    CHECK(climb.kept_up());
    CHECK(!queue_grew(100, 100, 10'000));
    CHECK(!queue_grew(100, 120, 10'000));   // Chance.
    CHECK(!queue_grew(1000, 1100, 10'000)); // 1 % of all.
    CHECK(queue_grew(1000, 1300, 10'000));
}

TEST_CASE("percentiles of the response are of all attempts")
{
    result r = example(1); // Every tenth of 200 failed.
    REQUIRE(r.counts.response_percentile(50));
    CHECK(*r.counts.response_percentile(50) == r.counts.response.percentile(100 * 100.0 / 180));
    CHECK(r.counts.response_percentile(90) == r.counts.response.max());
    CHECK(!r.counts.response_percentile(90.1));
    CHECK(!r.counts.response_percentile(99));
    std::string const text = to_json(r);
    CHECK(text.find("\"p99_ns\":null") != std::string::npos);
    CHECK(to_text(r).find("a percentile above 90 % is not known") != std::string::npos);
    r.counts.failures.clear();
    r.counts.attempts = r.counts.ok;
    CHECK(r.counts.response_percentile(100) == r.counts.response.max());
    CHECK(!tally{}.response_percentile(50));
}

TEST_CASE("a resumption that was asked for and did not come is reported")
{
    result r = example(1);
    r.asked = {{"connections per session", "4"}};
    REQUIRE(remarks_on(r).size() == 1);
    CHECK(remarks_on(r).front().starts_with(
        "0.0 % of the connections resumed a session, and 75.0 %"));
    CHECK(remarks_on(r).front().find("gave no session") != std::string::npos);
    r.counts.offered = 100;
    CHECK(remarks_on(r).front().find("refused every session") != std::string::npos);
    r.counts.resumed = 360; // 180 are full.
    CHECK(remarks_on(r).empty());
    r.asked = {{"resume ratio", "0.9"}};
    REQUIRE(remarks_on(r).size() == 1);
    CHECK(remarks_on(r).front().find("66.7 %") != std::string::npos);
}

TEST_CASE("the text says how short a short run was")
{
    result r = example(1);
    CHECK(to_text(r).find("(180 ok in 2.00 s)") != std::string::npos);
    r.measured = 2ms;
    CHECK(to_text(r).find("(180 ok in 2.00 ms)") != std::string::npos);
}

TEST_CASE("the text says how many transactions the times of a stage are without")
{
    result r = example(1);
    r.counts.tls.record(1'000'000, 180);
    CHECK(to_text(r).find("came so far") == std::string::npos);
    r.counts.attempts += 400;
    r.counts.failures[{stage::connect, "refused"}] = 100;
    r.counts.failures[{stage::handshake, "timeout"}] = 300;
    CHECK(to_text(r).find("came so far: 400 failed before") != std::string::npos);
}

TEST_CASE("a late start is a limit by its part of the response")
{
    result r = example(1); // Responses of a millisecond.
    r.counts.slip.record(500'000, 100);
    CHECK(judge(r).client_limited());
    r.counts.response.record(2'000'000'000, 100); // A server whose queue is seconds long.
    r.counts.slip.record(5'000'000, 100);
    CHECK(!judge(r).client_limited());
}

TEST_CASE("a server that fails more than it answers is no limit of the generator")
{
    result r = example(1);               // Responses of a millisecond, and one in ten failed.
    r.counts.slip.record(3'000'000, 10); // More than 1 % began late, and fewer than 10 %.
    r.counts.lag.record(26'000'000, 30);
    CHECK(judge(r).limits.size() == 1);   // The lag: p99 is not known, and p90 has no late start.
    r.counts.slip.record(3'000'000, 300); // Half of them.
    CHECK(judge(r).limits.size() == 2);
    r.counts.attempts += 400;
    r.counts.failures[{stage::handshake, "timeout"}] = 400; // No percentile is known.
    CHECK(judge(r).limits.empty());
}

TEST_CASE("every count of a histogram's text is read back")
{
    histogram before{latency_max, 3};
    std::uint64_t value = 1;
    for (int i = 0; i != 60; ++i) {
        before.record(value % latency_max, static_cast<std::uint64_t>(i * i * i + 1));
        value = value * 6364136223846793005U + 1442695040888963407U;
    }
    before.record(0, 5);
    before.record(latency_max, UINT64_MAX / 4); // A number of nine bytes.
    histogram after{latency_max, 3};
    REQUIRE(add_log(to_log(before), after));
    CHECK(after.count() == before.count());
    CHECK(to_log(after) == to_log(before));
    histogram coarse{latency_max, 2};
    CHECK(!add_log(to_log(before), coarse));
    CHECK(!add_log("", after));
    CHECK(!add_log("HISTFAAAA", after));
    CHECK(!add_log("!!!", after));
    std::string cut = to_log(before);
    cut.resize(cut.size() / 2);
    CHECK(!add_log(cut, after));
    CHECK(after.count() == before.count());
}

TEST_CASE("lengths, sizes and moments as people write them")
{
    CHECK(parse_length("10s") == 10s);
    CHECK(parse_length("1.5s") == 1500ms);
    CHECK(parse_length("250ms") == 250ms);
    CHECK(parse_length("9.9 ms") == 9900us); // As in_words writes it.
    CHECK(parse_length("2m") == 2min);
    CHECK(parse_length("7") == 7s);
    for (char const* text : {"", "s", "-1s", "1x", "1e400s", "nan", "inf"})
        CHECK(!parse_length(text));
    CHECK(parse_size("16K") == 16384);
    CHECK(parse_size("10M") == 10 << 20);
    CHECK(!parse_size("1.3"));
    CHECK(!parse_size("-1"));
    CHECK(in_words(0) == "0.00 ns");
    CHECK(in_words(1234567) == "1.23 ms");
    CHECK(in_words(99.6e9) == "99.6 s");
    CHECK(in_utc(from_utc("2026-11-21T20:00:00.25Z")) == "2026-11-21T20:00:00.250000Z");
    CHECK_THROWS_AS(static_cast<void>(from_utc("tomorrow")), std::runtime_error);
    CHECK_THROWS_AS(static_cast<void>(from_utc("2026-11-21T20:00:00+01:00")), std::runtime_error);
}

TEST_CASE("targets and sources")
{
    CHECK(find_target("127.0.0.1").port == "443");
    CHECK(find_target("https://127.0.0.1:8443/a?b").path == "/a?b");
    CHECK(find_target("[::1]:8443").host == "::1");
    for (char const* text :
         {"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", ":443", "[::1:443", "::1:443",
          "http://127.0.0.1", "https://"})
        CHECK_THROWS_AS(static_cast<void>(find_target(text)), std::runtime_error);
    auto const sources = find_sources("127.0.0.1,127.0.0.5-127.0.0.7");
    REQUIRE(sources.size() == 4);
    CHECK(net::to_string(sources[3]) == "127.0.0.7:0");
    for (char const* text : {"127.0.0.7-127.0.0.5", "127.0.0.1-127.255.0.1", "::1-::2"})
        CHECK_THROWS_AS(static_cast<void>(find_sources(text)), std::runtime_error);
}

TEST_CASE("the first of several addresses that takes a connection is used")
{
    unique_fd const listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    std::string const port = std::to_string(ntohs(address.sin_port));
    std::vector<net::address> const both{
        find_target("[::1]:" + port).addresses.front(),
        find_target("127.0.0.1:" + port).addresses.front()};
    CHECK(net::to_string(first_that_answers(both, 1s)) == "[::1]:" + port);
    REQUIRE(::listen(listener.get(), 1) == 0);
    CHECK(net::to_string(first_that_answers(both, 1s)) == "127.0.0.1:" + port);
}

TEST_CASE("a pool without sessions gives none, and without reuse it keeps none")
{
    session_pool four{{.per_session = 4, .ratio = {}, .by_ticket = true}, 1};
    CHECK(!four.take());
    four.give_back({}, false, std::vector<tls::session>(1));
    CHECK(four.size() == 1);
    auto second = four.take();
    REQUIRE(second);
    CHECK(second->uses == 1);
    // The chain goes on with what the resumed connection was given, up to the fourth.
    four.give_back(std::move(second), true, std::vector<tls::session>(1));
    auto third = four.take();
    CHECK(third->uses == 2);
    four.give_back(std::move(third), true, std::vector<tls::session>(1));
    auto fourth = four.take();
    CHECK(fourth->uses == 3);
    four.give_back(std::move(fourth), true, std::vector<tls::session>(1));
    CHECK(four.size() == 0);
    // A server that refuses it begins a new chain.
    four.give_back(session_pool::held{{}, 3}, false, std::vector<tls::session>(2));
    CHECK(four.take()->uses == 1);

    session_pool none{{}, 1};
    none.give_back({}, false, std::vector<tls::session>(1));
    CHECK(none.size() == 0);
}

} // namespace
} // namespace cleat::bench::result_test
