// Conditions that fail a run, and a run beside an earlier one.

#include "export/figure_list.hpp"
#include "gate/baseline.hpp"
#include "gate/condition.hpp"
#include "system/ration.hpp"
#include "text/usage_error.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::bench::gate_test {
namespace {

using namespace std::chrono_literals;

// Of 1000 attempts so many failed, and the others took 1 ms to 10 ms.
result run_of(unsigned failed, std::uint64_t times = 1)
{
    result r;
    r.name = "a \"name\", and more";
    r.target = "localhost:1";
    r.measured = 10s;
    r.rate_asked = 100;
    r.counts.attempts = 1000;
    r.counts.ok = 1000 - failed;
    if (failed != 0)
        r.counts.failures[{stage::answer, "timeout"}] = failed;
    for (unsigned i = 0; i != r.counts.ok; ++i)
        r.counts.response.record((1'000'000 + i * 9'000) * times);
    r.counts.full = r.counts.ok;
    for (int i = 0; i != 10; ++i)
        r.counts.timeline.push_back({100, 99 + static_cast<unsigned>(i % 2), 0, 0, 0});
    return r;
}

bool fails(std::string const& text, result const& found)
{
    bool any = false;
    for (condition const& each : parse_conditions(text))
        any = any || judge_condition(each, found).failed;
    return any;
}

TEST_CASE("conditions fail where the figure is beyond their limit")
{
    result const good = run_of(0);
    CHECK(!fails("p99 > 50ms, failed > 0.1%, rate < 99/s, p50 > 6ms, max > 10ms, mean > 1s", good));
    CHECK(fails("p99 > 9ms", good));
    CHECK(fails("p50 < 6ms", good));
    CHECK(fails("rate < 101", good));
    CHECK(fails("failed <= 0%", good));
    CHECK(!fails("failed > 0%", good));
    CHECK(fails("resumed < 99%", good));
    CHECK(fails("failed > 0.1 %", run_of(2)));
    judgement const one = judge_condition(parse_conditions("p99>9ms").front(), good);
    CHECK(one.condition == "p99>9ms");
    CHECK(one.value == "9.90 ms");
}

TEST_CASE("a percentile that is a failure's is beyond every limit")
{
    judgement const one = judge_condition(parse_conditions("p99 > 1h").front(), run_of(20));
    CHECK(one.failed);
    CHECK(one.value == "not known: 20 of 1000 failed");
    CHECK(!fails("p90 > 1h", run_of(20)));
    CHECK(fails("resumed < 1%", result{}));
}

TEST_CASE("conditions that make no sense are refused with the cure")
{
    for (auto const& [text, cure] :
         {std::pair{"p99", "FIGURE > LIMIT"},
          {"p98 > 1ms", "p99.9"},
          {"p99 > 50", "like 50ms"},
          {"failed > 1", "in percent"},
          {"failed > 101%", "in percent"},
          {"failed > -1%", "in percent"},
          {"failed > -0 %", "in percent"},
          {"failed > nan%", "in percent"},
          {"failed > 1e400%", "in percent"},
          {"p99 > -1ms", "like 50ms"},
          {"p99 > infms", "like 50ms"},
          {"p99 > 1e300h", "like 50ms"},
          {"rate < -1", "500/s"},
          {"rate < inf", "500/s"},
          {"rate < nan/s", "500/s"},
          {"rate < fast", "500/s"}})
        CHECK_THROWS_WITH_AS(
            static_cast<void>(parse_conditions(text)), doctest::Contains(cure), usage_error);
}

TEST_CASE("a run beside an earlier one fails where it is worse by more than chance makes")
{
    auto const worse = [](result const& before, result const& after) {
        std::string names;
        for (judgement const& each : judge_against(before, after, 0.05))
            if (each.failed)
                names += each.condition.substr(0, each.condition.find(' ')) + " ";
        return names;
    };
    CHECK(worse(run_of(0), run_of(0)).empty());
    CHECK(worse(run_of(0), run_of(0, 2)) == "p50 p99 ");
    CHECK(worse(run_of(0, 2), run_of(0)).empty());
    CHECK(worse(run_of(0), run_of(100)) == "rate p99 failed ");
    // Of a thousand attempts, beside none before: five are more than chance makes, and three are
    // not.
    CHECK(worse(run_of(0), run_of(5)).ends_with("failed "));
    CHECK(worse(run_of(0), run_of(3)).empty());
    CHECK(worse(run_of(40), run_of(41)).empty());
    result noisy = run_of(0); // A second of ten was lost, in a run whose seconds differ much.
    noisy.counts.ok = 930;
    for (std::size_t i = 0; i != 10; ++i)
        noisy.counts.timeline[i].ok = i % 2 == 0 ? 40 : 146;
    std::string rate;
    for (judgement const& each : judge_against(run_of(0), noisy, 0.05))
        if (each.condition.starts_with("rate"))
            rate = each.failed ? "failed" : each.value;
    CHECK(rate.find("which chance makes too") != std::string::npos);
}

TEST_CASE("a number and its unit are one text or two")
{
    CHECK(parse_tolerance("5%") == doctest::Approx(0.05));
    CHECK(parse_tolerance("5 %") == doctest::Approx(0.05));
    for (char const* text : {"p99 > 50ms", "p99>50 ms", "p99 > 0.05 s"})
        CHECK(parse_conditions(text).front().limit == doctest::Approx(50e6));
    CHECK(parse_conditions("failed > 0.1 %").front().limit == doctest::Approx(0.001));
    CHECK(parse_conditions("rate < 500 /s").front().limit == 500);
    CHECK(parse_ration("30 %", 1) == parse_ration("0.3", 1));
    for (char const* text : {"5", "", "%", "-1%", "-0%", "many", "inf%", "nan%", "1e400%", "101%"})
        CHECK_THROWS_AS(static_cast<void>(parse_tolerance(text)), usage_error);
}

TEST_CASE("what failed is a test case for CI, whatever its name has")
{
    std::string const text =
        to_junit({{"p99 > 1ms", "2 ms", true}, {"b", "c", false}}, "a<b>", 1.5);
    CHECK(
        text.find("<testsuite name=\"a&lt;b&gt;\" tests=\"2\" failures=\"1\"") !=
        std::string::npos);
    CHECK(text.find("<failure message=\"p99 &gt; 1ms: it was 2 ms\"/>") != std::string::npos);
}

TEST_CASE("key figures as CSV and as metrics; what is not known is left out")
{
    std::string const csv = to_csv(run_of(20));
    CHECK(csv.starts_with("name,target,started,measured_seconds,"));
    CHECK(csv.find("\n\"a \"\"name\"\", and more\",localhost:1,") != std::string::npos);
    std::string const text = to_prometheus(run_of(20));
    CHECK(
        text.find("# TYPE cleat_bench_failed gauge\ncleat_bench_failed{name=\"a \\\"name\\\", and "
                  "more\",target=\"localhost:1\"} 20\n") != std::string::npos);
    CHECK(text.find("cleat_bench_response_p90_seconds{") != std::string::npos);
    CHECK(text.find("response_p99_seconds") == std::string::npos);
    CHECK(text.find("cleat_bench_hosts") == std::string::npos);
    result several = run_of(0);
    several.hosts = {{.name = "a", .late = 3ms}, {.name = "b"}, {.name = "c", .lost = "gone"}};
    std::string const of_hosts = to_prometheus(several);
    CHECK(of_hosts.find("cleat_bench_hosts{") != std::string::npos);
    CHECK(of_hosts.find("target=\"localhost:1\"} 3\n") != std::string::npos);
    CHECK(
        of_hosts.find("cleat_bench_hosts_lost{name=\"a \\\"name\\\", and "
                      "more\",target=\"localhost:1\"} 1\n") != std::string::npos);
    CHECK(of_hosts.find("} 0.003\n") != std::string::npos);
}

} // namespace
} // namespace cleat::bench::gate_test
