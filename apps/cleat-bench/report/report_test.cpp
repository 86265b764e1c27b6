// The tests read the page's block of JSON; how it looks is for
// tests/bench/test_report.py.

#include "report/report.hpp"
#include "text/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace cleat::bench::report_test {
namespace {

using namespace std::chrono_literals;

std::size_t times_in(std::string_view page, std::string_view what)
{
    std::size_t found = 0;
    for (std::size_t place = page.find(what); place != std::string_view::npos;
         place = page.find(what, place + what.size()))
        ++found;
    return found;
}

json::value data_of(std::string const& page)
{
    static constexpr std::string_view begin = "id=\"data\">";
    std::size_t const place = page.find(begin);
    REQUIRE(place != std::string::npos);
    std::size_t const start = place + begin.size();
    return json::parse(std::string_view{page}.substr(start, page.find('<', start) - start));
}

json::value drawn(result const& one)
{
    return data_of(to_html({one})).at("results").at(0);
}

result with_name(std::string name)
{
    result made;
    made.name = std::move(name);
    made.target = "127.0.0.1:8443";
    return made;
}

// with_timeline has `each` transactions in every interval of a second.
result with_timeline(std::size_t intervals, std::chrono::nanoseconds measured, std::uint64_t each)
{
    result made;
    made.measured = measured;
    for (std::size_t i = 0; i != intervals; ++i)
        made.counts.timeline.push_back({each, each, 0, each * 1000, 2000 + i});
    return made;
}

double sum_of(json::value const& numbers)
{
    double sum = 0;
    for (json::value const& each : numbers.as_array())
        sum += each.to_number<double>();
    return sum;
}

TEST_CASE("no text of a result becomes markup or script")
{
    std::string const evil = "</script><!--<script>alert(1)</script>]]>&amp;\"'\\ \xe2\x80\xa8";
    result one = with_name(evil);
    one.command = one.target = evil;
    one.asked = one.environment = {{evil, evil}};
    one.verdict = {{evil}, {evil}};
    one.counts.failures[{stage::answer, evil}] = 1;
    one.counts.agreed.push_back({evil, evil, evil, 1});
    std::string const page = to_html({one, one});
    std::string const plain = to_html({with_name("plain"), with_name("plain")});
    for (std::string_view const what : {"<script", "</script", "<!--", "-->", "alert(1)<"})
        CHECK(times_in(page, what) == times_in(plain, what));

    json::value const shown = data_of(page).at("results").at(1);
    CHECK(shown.at("name").as_string() == evil);
    CHECK(shown.at("asked").at(0).at(1).as_string() == evil);
    CHECK(shown.at("limits").at(0).as_string() == evil);
    CHECK(shown.at("failures").at(0).at("kind").as_string() == evil);
    CHECK(to_html({one}).find("<title>&lt;/script&gt;&lt;!--") != std::string::npos);
}

TEST_CASE("the page loads nothing: all of it is in it")
{
    std::string const page = to_html({with_name("one")});
    CHECK(page.find("default-src 'none'") != std::string::npos);
    for (std::string_view const what : {"<script src", "<link rel=\"stylesheet", "@import", "url("})
        CHECK(times_in(page, what) == 0);
    CHECK(page.find("Chart.js v") != std::string::npos);
    CHECK(page.find("{{") == page.find("{{}")); // Nothing of the template is left open.
}

TEST_CASE("results are in their order; a page may have none")
{
    json::value const data = data_of(to_html({with_name("a"), with_name("b"), with_name("a")}));
    json::array const& results = data.at("results").as_array();
    REQUIRE(results.size() == 3);
    CHECK(results[0].at("name").as_string() == "a");
    CHECK(results[1].at("name").as_string() == "b");
    CHECK(results[2].at("name").as_string() == "a");
    CHECK(data_of(to_html({})).at("results").as_array().empty());
}

TEST_CASE("a result without transactions has no figures")
{
    json::value const shown = drawn({});
    CHECK(shown.at("rate").to_number<double>() == 0);
    CHECK(shown.at("rate_asked").is_null());
    CHECK(shown.at("server").is_null());
    CHECK(shown.at("timeline").at("middle_s").as_array().empty());
    CHECK(shown.at("latency").at(0).at("curve").as_array().empty());
}

TEST_CASE("a curve has the histogram's own percentiles, and ends with its maximum")
{
    result one;
    for (std::uint64_t i = 1; i <= 100'000; ++i)
        one.counts.response.record(i * i);
    one.counts.tcp.record(7);
    json::value const data = data_of(to_html({one}));
    json::array const& grid = data.at("grid").as_array();
    json::value const& shown = data.at("results").at(0).at("latency");
    json::array const& curve = shown.at(4).at("curve").as_array();
    CHECK(shown.at(4).at("key").as_string() == "response");
    REQUIRE(curve.size() == grid.size());
    CHECK(grid.size() <= 200);
    for (std::size_t i = 0; i != grid.size(); ++i) {
        double const x = grid[i].to_number<double>();
        std::uint64_t const value = curve[i].to_number<std::uint64_t>();
        CHECK(value == one.counts.response.percentile(100 - 100 / x));
    }
    CHECK(curve.back().to_number<std::uint64_t>() == one.counts.response.max());

    // One value is all percentiles, and its curve has no more points.
    json::array const& single = shown.at(0).at("curve").as_array();
    REQUIRE(single.size() >= 2);
    CHECK(single.size() < curve.size());
    CHECK(std::ranges::all_of(
        single, [](json::value const& v) { return v.to_number<std::uint64_t>() == 7; }));
}

TEST_CASE("a curve of very many values is no longer than others")
{
    result one;
    one.counts.response.record(5, std::uint64_t{1} << 62);
    json::value const data = data_of(to_html({one}));
    CHECK(data.at("grid").as_array().size() <= 200);
    CHECK(data.at("grid").as_array().back().to_number<double>() > 0x1p62);
}

TEST_CASE("a short timeline is drawn as it is")
{
    json::value const line = drawn(with_timeline(10, 10s, 100)).at("timeline");
    CHECK(line.at("together").to_number<int>() == 1);
    REQUIRE(line.at("ok").as_array().size() == 10);
    CHECK(line.at("middle_s").at(0).to_number<double>() == doctest::Approx(0.5));
    CHECK(line.at("mean_ns").at(3).to_number<double>() == doctest::Approx(1000));
    CHECK(line.at("max_ns").at(3).to_number<double>() == 2003);
}

TEST_CASE("one interval is one point")
{
    json::value const line = drawn(with_timeline(1, 400ms, 100)).at("timeline");
    REQUIRE(line.at("ok").as_array().size() == 1);
    CHECK(line.at("length_s").at(0).to_number<double>() == doctest::Approx(0.4));
}

TEST_CASE("a long timeline is added up to a few hundred points, and nothing is lost")
{
    result one = with_timeline(5000, 5000s, 100);
    one.counts.timeline[4321].response_ns_max = 1'000'000;
    json::value const line = drawn(one).at("timeline");
    std::size_t const points = line.at("ok").as_array().size();
    CHECK(points > 150);
    CHECK(points <= 300);
    CHECK(sum_of(line.at("ok")) == 500'000);
    CHECK(sum_of(line.at("length_s")) == doctest::Approx(5000));
    json::array const& longest = line.at("max_ns").as_array();
    CHECK(std::ranges::any_of(
        longest, [](json::value const& v) { return v.to_number<double>() == 1'000'000; }));
}

TEST_CASE("a last interval that was cut short is no collapse of the rate")
{
    // 10.1 s: what came in the last 0.1 s belongs to the tenth interval.
    json::value const early = drawn(with_timeline(11, 10100ms, 100)).at("timeline");
    REQUIRE(early.at("ok").as_array().size() == 10);
    CHECK(early.at("length_s").at(9).to_number<double>() == doctest::Approx(1.1));
    CHECK(early.at("ok").at(9).to_number<int>() == 200);
    // 10.7 s: it is a point of its own, of 0.7 s.
    json::value const late = drawn(with_timeline(11, 10700ms, 100)).at("timeline");
    REQUIRE(late.at("ok").as_array().size() == 11);
    CHECK(late.at("length_s").at(10).to_number<double>() == doctest::Approx(0.7));
}

TEST_CASE("time after the last end is part of the timeline")
{
    json::value const line = drawn(with_timeline(3, 6s, 100)).at("timeline");
    REQUIRE(line.at("ok").as_array().size() == 6);
    CHECK(line.at("ok").at(5).to_number<int>() == 0);
    CHECK(line.at("mean_ns").at(5).is_null());
}

} // namespace
} // namespace cleat::bench::report_test
