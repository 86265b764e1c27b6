#include "generate/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace cleat::bench::histogram_test {
namespace {

// Without a histogram: the smallest value that at least p percent of the values do not exceed.
std::uint64_t exact_percentile(std::vector<std::uint64_t> values, double p)
{
    std::sort(values.begin(), values.end());
    auto const n = static_cast<double>(values.size());
    auto const rank = static_cast<std::size_t>(std::ceil(std::nextafter(p, 0.0) * n / 100));
    return values[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<std::uint64_t> random_latencies(unsigned seed, int n)
{
    std::mt19937_64 random{seed};
    std::lognormal_distribution<double> nanoseconds{11, 2};
    std::vector<std::uint64_t> values;
    for (int i = 0; i != n; ++i)
        values.push_back(std::min<std::uint64_t>(
            static_cast<std::uint64_t>(nanoseconds(random)), 60'000'000'000));
    return values;
}

} // namespace

TEST_CASE("an empty histogram answers zero")
{
    histogram const h{1000};
    CHECK(h.count() == 0);
    CHECK(h.min() == 0);
    CHECK(h.max() == 0);
    CHECK(h.mean() == 0.0);
    CHECK(h.standard_deviation() == 0.0);
    CHECK(h.percentile(50) == 0);
    h.for_each_bucket([](histogram::bucket) { FAIL_CHECK("a bucket"); });
}

TEST_CASE("small values are exact")
{
    histogram h{1'000'000, 3};
    for (std::uint64_t v = 1; v <= 1000; ++v)
        h.record(v);
    CHECK(h.percentile(0) == 1);
    CHECK(h.percentile(50) == 500);
    CHECK(h.percentile(99) == 990);
    CHECK(h.percentile(99.9) == 999);
    CHECK(h.percentile(100) == 1000);
    CHECK(h.percentile(-5) == 1);
    CHECK(h.percentile(1e9) == 1000);
    CHECK(h.mean() == doctest::Approx(500.5));
    CHECK(h.standard_deviation() == doctest::Approx(std::sqrt((1e6 - 1) / 12)));
}

TEST_CASE("a percentile is the exact one, rounded up within its bucket")
{
    std::vector<std::uint64_t> const values = random_latencies(7, 50'000);
    for (int digits = 1; digits <= 5; ++digits) {
        CAPTURE(digits);
        histogram h{60'000'000'000, digits};
        for (std::uint64_t v : values)
            h.record(v);
        CHECK(h.min() == *std::min_element(values.begin(), values.end()));
        CHECK(h.max() == *std::max_element(values.begin(), values.end()));
        for (double p : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0}) {
            CAPTURE(p);
            std::uint64_t const exact = exact_percentile(values, p);
            CHECK(h.percentile(p) == std::min(h.bucket_of(exact).highest, h.max()));
            CHECK(
                static_cast<double>(h.percentile(p) - exact) <=
                static_cast<double>(exact) * std::pow(10, -digits));
        }
    }
}

TEST_CASE("buckets follow each other without gap or overlap, and are never too wide")
{
    for (int digits = 1; digits <= 3; ++digits) {
        CAPTURE(digits);
        std::uint64_t const value_max = 3'000'000;
        histogram h{value_max, digits};
        for (std::uint64_t next = 0; next <= value_max;) {
            histogram::bucket const b = h.bucket_of(next);
            REQUIRE(b.lowest == next);
            REQUIRE(b.highest >= b.lowest);
            REQUIRE(
                static_cast<double>(b.highest - b.lowest) <=
                static_cast<double>(b.lowest) * std::pow(10, -digits));
            next = b.highest + 1;
        }
    }
}

TEST_CASE("the largest numbers do not overflow")
{
    histogram h{UINT64_MAX, 3};
    h.record(UINT64_MAX, UINT64_MAX / 2);
    h.record(0, UINT64_MAX / 2);
    CHECK(h.max() == UINT64_MAX);
    CHECK(h.min() == 0);
    CHECK(h.percentile(100) == UINT64_MAX);
    CHECK(h.mean() == doctest::Approx(9.2233720368547758e18));
    CHECK(h.bucket_of(UINT64_MAX).highest == UINT64_MAX);
}

TEST_CASE("a value beyond the maximum is counted as the maximum, and in beyond_max")
{
    histogram h{1000};
    h.record(5000, 3);
    h.record(10);
    h.record(77, 0);
    CHECK(h.count() == 4);
    CHECK(h.beyond_max() == 3);
    CHECK(h.max() == 1000);
    CHECK(h.min() == 10);
    h.clear();
    CHECK(h.count() == 0);
    CHECK(h.beyond_max() == 0);
    CHECK(h.percentile(100) == 0);
}

TEST_CASE("merging the workers' histograms gives what one histogram would have counted")
{
    std::vector<std::uint64_t> const values = random_latencies(42, 10'000);
    histogram all{60'000'000'000};
    histogram first{60'000'000'000};
    histogram second{60'000'000'000};
    for (std::size_t i = 0; i != values.size(); ++i) {
        all.record(values[i]);
        (i % 3 == 0 ? first : second).record(values[i]);
    }
    first.merge(second);
    CHECK(first.percentile_distribution() == all.percentile_distribution());
    CHECK(first.min() == all.min());
    CHECK(first.mean() == all.mean());

    histogram const empty{60'000'000'000};
    first.merge(empty);
    CHECK(first.percentile_distribution() == all.percentile_distribution());
}

TEST_CASE("percentiles and text are those of HdrHistogram")
{
    // Buckets and percentiles of i*i mod 1000003 for i in 1..10000, compared with HdrHistogram's
    // Python port; the levels are those of the Java original, which plotters expect.
    histogram h{3'600'000'000, 3};
    for (std::uint64_t i = 1; i <= 10'000; ++i)
        h.record(i * i % 1'000'003);
    CHECK(h.percentile(50) == 474'111);
    CHECK(h.percentile(99.9) == 999'935);

    std::istringstream text{h.percentile_distribution()};
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    REQUIRE(lines.size() > 10);
    CHECK(lines[0] == "       Value     Percentile TotalCount 1/(1-Percentile)");
    CHECK(lines[1].empty());
    CHECK(lines[2] == "       1.000 0.000000000000          1           1.00");
    CHECK(lines[3] == "   79423.000 0.100000000000       1000           1.11");
    CHECK(lines[4] == "  173183.000 0.200000000000       2000           1.25");
    std::vector<std::string> const end{lines.end() - 9, lines.end()};
    CHECK(end[0] == "  999935.000 0.999316406250       9996        1462.86");
    CHECK(end[1] == "  999935.000 0.999414062500       9996        1706.67");
    CHECK(end[3] == "  999935.000 0.999560546875       9996        2275.56");
    // The last bucket ends at 1000447; our last lines give the largest value itself, and the mean
    // is exact.
    CHECK(end[4] == " 1000000.000 0.999609375000      10000        2560.00");
    CHECK(end[5] == " 1000000.000 1.000000000000      10000");
    CHECK(end[6] == "#[Mean    =   480434.927, StdDeviation   =   293855.945]");
    CHECK(end[7] == "#[Max     =  1000000.000, Total count    =        10000]");
    CHECK(end[8] == "#[Buckets =           22, SubBuckets     =         2048]");
}

TEST_CASE("the text is scaled to the unit, and an empty one has no lines")
{
    histogram h{60'000'000'000, 2};
    h.record(2'000'000);
    std::string const text = h.percentile_distribution(1e6);
    CHECK(text.find("        2.00 1.000000000000          1\n") != std::string::npos);
    h.clear();
    CHECK(h.percentile_distribution().find("1.000000000000") == std::string::npos);
}

} // namespace cleat::bench::histogram_test
