// The streams of HTTP/2 in a result: written, read, merged, and told.

#include "export/figure_list.hpp"
#include "report/report.hpp"
#include "result/result.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace cleat::bench::http2_result_test {
namespace {

using namespace std::chrono_literals;

// Ten connections, to a server that allowed 8 streams to three of them.
result run_by_http2(unsigned streams = 20)
{
    result r;
    r.name = r.target = "localhost:1";
    r.started = std::chrono::system_clock::time_point{1'000'000s};
    r.measured = 10s;
    r.asked = {{"closed loop", "10 kept connections"}, {"HTTP/2", "20 streams"}};
    tally& counts = r.counts;
    counts.connections = 10;
    counts.attempts = counts.ok = 100;
    for (int i = 0; i != 100; ++i)
        counts.response.record(200'000);
    counts.timeline.push_back({100, 100, 0, 100 * 200'000, 200'000});
    counts.http2 = http2_counts{
        .streams = streams,
        .open_max = 16,
        .connections = 10,
        .limited = 3,
        .allowed_min = 8,
        .goaways = 2,
        .resent = 5};
    return r;
}

bool contains(std::string const& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

TEST_CASE("a document of HTTP/2 is read as it was written")
{
    result const read = from_json(to_json(run_by_http2()), "a");
    REQUIRE(read.counts.http2);
    http2_counts const& counts = *read.counts.http2;
    CHECK(counts.streams == 20);
    CHECK(counts.open_max == 16);
    CHECK(counts.connections == 10);
    CHECK(counts.limited == 3);
    CHECK(counts.allowed_min == 8);
    CHECK(counts.goaways == 2);
    CHECK(counts.resent == 5);
    CHECK(to_json(read) == to_json(run_by_http2()));
    result plain = run_by_http2();
    plain.counts.http2.reset();
    CHECK(!from_json(to_json(plain), "b").counts.http2);
    CHECK(!contains(to_text(plain), "at once"));
}

TEST_CASE("no SETTINGS came")
{
    result none = run_by_http2();
    none.counts.http2->connections = none.counts.http2->limited = 0;
    none.counts.http2->allowed_min.reset();
    CHECK(contains(to_json(none), "\"streams_allowed_min\":null"));
    CHECK(!from_json(to_json(none), "a").counts.http2->allowed_min);
    CHECK(remarks_on(none).empty());
}

TEST_CASE("every document tells the streams, and that a server allows fewer")
{
    result const run = run_by_http2();
    std::string const text = to_text(run);
    CHECK(contains(
        text, "20 streams on each connection, at most 16 open at once; fewer allowed "
              "on 3 of 10 connections\n"));
    CHECK(contains(text, "2 ended by GOAWAY, 5 requests sent again\n"));
    REQUIRE(remarks_on(run).size() == 1);
    CHECK(contains(remarks_on(run).front(), "allowed 8 of 20 streams on 3 of 10 connections"));
    CHECK(contains(to_json(run), "the server allowed 8 of 20 streams"));
    CHECK(contains(to_prometheus(run), "cleat_bench_http2_streams_allowed_min"));
    CHECK(contains(to_csv(run), "http2_resent"));
    CHECK(contains(to_html({run}), "\"open_max\":16"));
}

TEST_CASE("results of as many streams are merged, and of another number are not")
{
    result other = run_by_http2();
    other.counts.http2->allowed_min = 4;
    other.counts.http2->open_max = 8;
    result const sum = merge({run_by_http2(), other});
    CHECK(sum.counts.http2->streams == 20);
    CHECK(sum.counts.http2->open_max == 16);
    CHECK(sum.counts.http2->connections == 20);
    CHECK(sum.counts.http2->limited == 6);
    CHECK(sum.counts.http2->allowed_min == 4);
    CHECK(sum.counts.http2->goaways == 4);
    CHECK(sum.counts.http2->resent == 10);
    CHECK_THROWS_WITH(
        static_cast<void>(merge({run_by_http2(), run_by_http2(16)})),
        doctest::Contains("another number of streams"));
    other.counts.http2.reset();
    CHECK_THROWS_WITH(
        static_cast<void>(merge({run_by_http2(), other})),
        doctest::Contains("another number of streams"));
}

TEST_CASE("a document whose streams do not add up is refused")
{
    std::string text = to_json(run_by_http2());
    std::string_view const key = "\"streams_open_max\":16";
    text.replace(text.find(key), key.size(), "\"streams_open_max\":21");
    CHECK_THROWS_WITH(
        static_cast<void>(from_json(text, "a")), doctest::Contains("more streams were open"));
}

} // namespace
} // namespace cleat::bench::http2_result_test
