// What a staircase says about a server whose behaviour is made up.

#include "idle.hpp"
#include "staircase.hpp"

#include <doctest/doctest.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

interval step(std::uint64_t attempted, std::uint64_t ok, std::uint64_t failed, double mean_ms)
{
    return {
        attempted, ok, failed, static_cast<std::uint64_t>(static_cast<double>(ok) * mean_ms * 1e6),
        0};
}

// Steps of 100/s to 500/s, of a second with two intervals each.
std::vector<phase> const phases{
    {1s, 100, 100}, {1s, 200, 200}, {1s, 300, 300}, {1s, 400, 400}, {1s, 500, 500}};

std::vector<stair> climb(std::vector<interval> const& seconds)
{
    std::vector<interval> timeline;
    for (interval each : seconds) {
        interval half = each;
        half.attempted /= 2;
        half.ok /= 2;
        half.failed /= 2;
        half.response_ns /= 2;
        timeline.push_back(half);
        timeline.push_back(half);
    }
    return stairs_of(timeline, phases, 500ms);
}

TEST_CASE("the highest rates by each criterion, and the knee")
{
    std::vector<stair> const stairs = climb({
        step(100, 100, 0, 2),
        step(200, 200, 0, 2),
        step(300, 300, 0, 5),
        step(400, 396, 0, 150),
        step(500, 400, 2, 600),
    });
    REQUIRE(stairs.size() == 5);
    auto const found = summits(stairs);
    CHECK(found[0].rate == 300); // 100 ms
    CHECK(found[1].rate == 400); // 500 ms
    CHECK(found[2].rate == 400); // 0.01 %
    CHECK(found[3].rate == 400); // 0.1 %
    CHECK(knee(stairs) == 300);
}

TEST_CASE("a rate counts only where all below it are good")
{
    std::vector<stair> const stairs =
        climb({step(100, 100, 0, 2), step(200, 200, 0, 120), step(300, 300, 0, 2)});
    CHECK(summits(stairs)[0].rate == 100);
}

TEST_CASE("nothing that is good: no rate")
{
    std::vector<stair> const stairs = climb({step(100, 80, 0, 900)});
    CHECK(!summits(stairs)[0].rate);
    CHECK(summits(stairs)[2].rate == 100);
}

TEST_CASE("it ends with the step that broke")
{
    std::vector<stair> const stairs =
        climb({step(100, 100, 0, 2), step(200, 100, 100, 2), step(300, 300, 0, 2)});
    REQUIRE(stairs.size() == 2);
    CHECK(broken(stairs.back()));
    CHECK(broken({100, step(100, 100, 0, 1001)}));
    CHECK(broken({100, step(100, 60, 0, 1)}));
    CHECK(!broken({100, step(100, 99, 1, 900)}));
}

TEST_CASE("no steps at all")
{
    CHECK(stairs_of({}, phases, 500ms).empty());
    CHECK(!knee({}));
}

TEST_CASE("memory per connection is the slope, whatever the server needs without any")
{
    CHECK(slope({{0, 1'000'000}, {1000, 6'000'000}, {2000, 11'000'000}}) == doctest::Approx(5000));
    CHECK(slope({{1000, 5}}) == 0);
}

} // namespace
} // namespace cleat::bench
