#include "admin/exposition.hpp"
#include "counts/duration_counts.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace cleat::app::exposition_test {
namespace {

constexpr metric_row hits{"t_hits", metric_type::counter, "", "Hits of \"a\" \\ b\nand c", "", {}};
constexpr metric_row depth{"t_depth_bytes", metric_type::gauge, "bytes", "Depth", "", {}};
constexpr metric_row build{"t_build", metric_type::info, "", "Build", "version", {}};
constexpr metric_row wait{"t_wait_seconds", metric_type::histogram, "seconds", "Wait", "", {}};

std::string text(metric_family const& family, exposition_format format)
{
    return expose({&family, 1}, format);
}

std::string prometheus(metric_family const& family)
{
    return text(family, exposition_format::prometheus);
}

std::string openmetrics(metric_family const& family)
{
    return text(family, exposition_format::openmetrics);
}

} // namespace

TEST_CASE("a counter's samples end with _total, and its family does not in OpenMetrics")
{
    metric_family family{hits};
    family.add(3, {{"name", "x"}});
    CHECK(
        prometheus(family) == "# HELP t_hits_total Hits of \"a\" \\\\ b\\nand c\n"
                              "# TYPE t_hits_total counter\n"
                              "t_hits_total{name=\"x\"} 3\n");
    CHECK(
        openmetrics(family) == "# HELP t_hits Hits of \\\"a\\\" \\\\ b\\nand c\n"
                               "# TYPE t_hits counter\n"
                               "t_hits_total{name=\"x\"} 3\n"
                               "# EOF\n");
}

TEST_CASE("a label's value is escaped")
{
    metric_family family{depth};
    family.add(-1.5, {{"a", "q\"b\\s\nn"}, {"b", ""}});
    CHECK(
        openmetrics(family) == "# HELP t_depth_bytes Depth\n"
                               "# TYPE t_depth_bytes gauge\n"
                               "# UNIT t_depth_bytes bytes\n"
                               "t_depth_bytes{a=\"q\\\"b\\\\s\\nn\",b=\"\"} -1.5\n"
                               "# EOF\n");
}

TEST_CASE("a byte that is no UTF-8, as a file's name may have it, leaves the document UTF-8")
{
    metric_family family{depth};
    family.add(
        1, {{"a", "caf\xe9"},
            {"b", "\xff\xc3"
                  "b"},
            {"c", "caf\xc3\xa9"}});
    CHECK(
        openmetrics(family) == "# HELP t_depth_bytes Depth\n"
                               "# TYPE t_depth_bytes gauge\n"
                               "# UNIT t_depth_bytes bytes\n"
                               "t_depth_bytes{a=\"caf\xef\xbf\xbd"
                               "E9\",b=\"\xef\xbf\xbd"
                               "FF\xef\xbf\xbd"
                               "C3b\",c=\"caf\xc3\xa9\"} 1\n"
                               "# EOF\n");
}

TEST_CASE("no two values of a label are shown as one")
{
    // The later ones are what a replacement might have made of the earlier ones.
    std::vector<std::string> const values{
        "caf\xe9",
        "caf\xe8",
        "caf",
        "caf\xef\xbf\xbd",
        "caf\\xE9",
        "cafE9",
        "caf\xef\xbf\xbd"
        "E9",
        "caf\xef\xbf\xbd"
        "EF\xef\xbf\xbd"
        "BF\xef\xbf\xbd"
        "BD"};
    for (auto const& show : {prometheus, openmetrics, +[](metric_family const& family) {
                                 return metrics_json({&family, 1});
                             }}) {
        std::set<std::string> shown;
        for (std::string const& each : values) {
            metric_family family{depth};
            family.add(1, {{"a", each}});
            shown.insert(show(family));
        }
        CHECK(shown.size() == values.size());
    }
}

TEST_CASE("an info is a gauge in the older format")
{
    metric_family family{build};
    family.add(1, {{"version", "1"}});
    CHECK(prometheus(family).find("# TYPE t_build_info gauge\n") != std::string::npos);
    CHECK(openmetrics(family).find("# TYPE t_build info\n") != std::string::npos);
    CHECK(openmetrics(family).find("\nt_build_info{version=\"1\"} 1\n") != std::string::npos);
}

TEST_CASE("a histogram's buckets count all times up to their bound, and the last one all")
{
    metric_family family{wait};
    metric_histogram times{.bounds = duration_counts::bounds, .labels = {}, .counts = {}};
    times.counts.resize(duration_counts::bucket_count);
    times.counts[0] = 2;
    times.counts[10] = 1; // Up to a second.
    times.counts.back() = 1;
    times.sum = 3601.25;
    family.histograms.push_back(times);
    std::string const shown = prometheus(family);
    for (char const* line :
         {"# TYPE t_wait_seconds histogram\n", "t_wait_seconds_bucket{le=\"0.0005\"} 2\n",
          "t_wait_seconds_bucket{le=\"0.5\"} 2\n", "t_wait_seconds_bucket{le=\"1.0\"} 3\n",
          "t_wait_seconds_bucket{le=\"3600.0\"} 3\n", "t_wait_seconds_bucket{le=\"+Inf\"} 4\n",
          "t_wait_seconds_sum 3601.25\n", "t_wait_seconds_count 4\n"})
        CHECK_MESSAGE(shown.find(line) != std::string::npos, line);
}

TEST_CASE("large numbers are written whole")
{
    metric_family family{depth};
    family.add(1764039600123456.0);
    CHECK(prometheus(family).ends_with("t_depth_bytes 1764039600123456\n"));
}

TEST_CASE("OpenMetrics is for a client that prefers it")
{
    auto const chosen = [](std::string_view accept) {
        return choose_format(accept) == exposition_format::openmetrics;
    };
    CHECK_FALSE(chosen(""));
    CHECK_FALSE(chosen("*/*"));
    CHECK_FALSE(chosen("text/plain"));
    CHECK(chosen("application/openmetrics-text"));
    CHECK(chosen("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4"));
    CHECK_FALSE(chosen("application/openmetrics-text;q=0.1, text/plain"));
    CHECK_FALSE(chosen("application/openmetrics-text;q=0"));
    CHECK_FALSE(chosen("application/openmetrics-text;q=x"));
    CHECK_FALSE(chosen("application/openmetrics-textual, ;;,,"));
}

TEST_CASE("JSON has the same samples")
{
    metric_family family{hits};
    family.add(3, {{"name", "x\"y"}});
    std::vector<metric_family> const all{family};
    CHECK(
        metrics_json(all) ==
        "{\"t_hits_total\": {\"type\": \"counter\", \"samples\": [{\"labels\": "
        "{\"name\": \"x\\\"y\"}, \"value\": 3}]}}");
}

} // namespace cleat::app::exposition_test
