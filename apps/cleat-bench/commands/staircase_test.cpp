// Staircases of a server whose behaviour is invented.

#include "commands/idle.hpp"
#include "commands/staircase.hpp"

#include <doctest/doctest.h>

namespace cleat::bench::staircase_test {
namespace {

using namespace std::chrono_literals;

struct second
{
    interval counts;
    std::uint64_t done = 0;
};

// All that began in it has ended.
second step(std::uint64_t ok, std::uint64_t failed, double mean_ms)
{
    return {
        {ok + failed, ok, failed,
         static_cast<std::uint64_t>(static_cast<double>(ok) * mean_ms * 1e6), 0},
        ok};
}

// Steps of 100/s to 500/s, of a second with two intervals each.
std::vector<phase> const phases{
    {1s, 100, 100}, {1s, 200, 200}, {1s, 300, 300}, {1s, 400, 400}, {1s, 500, 500}};

std::vector<stair> climb(std::vector<second> const& seconds)
{
    std::vector<interval> timeline;
    std::vector<interval> by_start;
    for (second const& each : seconds) {
        interval half = each.counts;
        half.attempted /= 2;
        half.ok /= 2;
        half.failed /= 2;
        half.response_ns /= 2;
        by_start.insert(by_start.end(), 2, half);
        timeline.insert(timeline.end(), 2, {half.attempted, each.done / 2, 0, 0, 0});
    }
    return stairs_of(timeline, by_start, phases, 500ms);
}

TEST_CASE("the highest rates by each criterion, and the knee")
{
    std::vector<stair> const stairs = climb({
        step(100, 0, 2),
        step(200, 0, 2),
        step(300, 0, 5),
        step(400, 0, 150),
        step(498, 2, 600),
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
    std::vector<stair> const stairs = climb({step(100, 0, 2), step(200, 0, 120), step(300, 0, 2)});
    CHECK(summits(stairs)[0].rate == 100);
}

TEST_CASE("no good step: no rate")
{
    std::vector<stair> const stairs = climb({step(80, 4, 900)});
    CHECK(!summits(stairs)[0].rate);
    CHECK(!summits(stairs)[2].rate);
}

TEST_CASE("the steps end with the one that broke the server")
{
    std::vector<stair> const stairs = climb({step(100, 0, 2), step(100, 100, 2), step(300, 0, 2)});
    REQUIRE(stairs.size() == 2);
    CHECK(broken(stairs.back()));
    CHECK(broken({100, 1s, step(100, 0, 1001).counts, 100, 1ms}));
    CHECK(broken({100, 1s, step(100, 0, 1).counts, 60, 1ms}));
    CHECK(!broken({100, 1s, step(99, 1, 900).counts, 99, 1ms}));
}

TEST_CASE("the step that broke the server is no highest rate, even without failures")
{
    // 900/s can be done. Of 1600/s all is answered in the end, long after the step.
    second late = step(200, 0, 700);
    late.done = 112;
    std::vector<stair> const stairs = climb({step(100, 0, 2), late});
    REQUIRE(stairs.size() == 2);
    for (summit const& each : summits(stairs))
        CHECK_MESSAGE(each.rate == 100, each.criterion);
    CHECK(knee(stairs) == 100);
}

TEST_CASE("a step that was cut off is not judged, and meets no criterion")
{
    second cut = step(200, 0, 2);
    cut.counts.ok = 150;
    std::vector<stair> const stairs = climb({step(100, 0, 2), cut});
    REQUIRE(stairs.size() == 2);
    CHECK(!stairs.back().settled());
    CHECK(summits(stairs)[2].rate == 100);
    CHECK(knee(stairs) == 100);
}

TEST_CASE("failures and missing ends decide before all has ended, responses do not")
{
    stair one{100, 1s, {100, 80, 0, 80 * 2'000'000'000ULL, 0}, 80, 1ms};
    CHECK(broken(one));
    CHECK(!lost(one, 1ms));
    one.done = 69;
    CHECK(lost(one, 1ms));
    one.done = 80;
    one.counts.failed = 6;
    CHECK(lost(one, 1ms));
    one.counts = {100, 100, 0, 100 * 2'000'000'000ULL, 0};
    CHECK(lost(one, 1ms));
}

TEST_CASE("a server that is equally slow at every rate is not broken")
{
    // Of each step's transactions those of the last 350 ms end in the next one.
    second first = step(100, 0, 350);
    first.done = 64;
    second next = step(200, 0, 350);
    next.done = 166;
    std::vector<stair> const stairs = climb({first, next});
    REQUIRE(stairs.size() == 2);
    CHECK(!broken(stairs.front()));
    CHECK(!broken(stairs.back()));
    CHECK(!lost(stairs.front(), 1ms));
    CHECK(summits(stairs)[1].rate == 200);
}

TEST_CASE("a step that does not keep up meets no criterion, though it is too short to break")
{
    // 100/s can be done. The queue of one second at 120/s is short.
    second late = step(120, 0, 90);
    late.done = 90;
    std::vector<stair> const stairs = climb({step(100, 0, 5), late});
    REQUIRE(stairs.size() == 2);
    CHECK(stairs[1].pending_after == 30);
    CHECK(!broken(stairs[1]));
    CHECK(kept_up(stairs[0]));
    CHECK(!kept_up(stairs[1]));
    CHECK(fault_of(stairs[0]).empty());
    CHECK(fault_of(stairs[1]).starts_with("did not keep up: 90/s were done, and 30 more"));
    for (summit const& each : summits(stairs))
        CHECK_MESSAGE(each.rate == 100, each.criterion);
    CHECK(knee(stairs) == 100);
}

TEST_CASE("a broken step says why")
{
    CHECK(fault_of({100, 1s, step(90, 10, 2).counts, 90, 1ms}) == "broken: 10 % failed");
    CHECK(fault_of({100, 1s, step(100, 0, 1001).counts, 100, 1ms})
              .starts_with("broken: the mean response was 1.00 s"));
    CHECK(
        fault_of({100, 1s, step(100, 0, 500).counts, 60, 1ms}) ==
        "broken: 60/s were done while it lasted, 40 of 100 ended later");
    CHECK(fault_of({100, 1s, {100, 80, 10, 0, 0}, 60, 1ms}).empty()); // It was cut off.
}

TEST_CASE("a server without an answer so far gets a second")
{
    stair const one{100, 1s, {100, 0, 0, 0, 0}, 0, {}};
    CHECK(!lost(one, 900ms));
    CHECK(lost(one, 1100ms));
    CHECK(lost({100, 1s, {100, 0, 6, 0, 0}, 0, {}}, 1ms));
}

TEST_CASE("the knee is found on a steep staircase, too")
{
    std::vector<stair> const stairs =
        climb({step(100, 0, 4), step(200, 0, 127), step(300, 0, 365)});
    CHECK(knee(stairs) == 100);
}

TEST_CASE("no steps at all")
{
    CHECK(stairs_of({}, {}, phases, 500ms).empty());
    CHECK(!knee({}));
}

TEST_CASE("memory per connection is the slope, whatever the server needs without connections")
{
    CHECK(slope({{0, 1'000'000}, {1000, 6'000'000}, {2000, 11'000'000}}) == doctest::Approx(5000));
    CHECK(slope({{1000, 5}}) == 0);
}

TEST_CASE("memory that does not grow has no cost per connection")
{
    // A server that has served 800 before.
    CHECK(
        !connection_bytes({{0, 9'000'000}, {200, 9'004'096}, {400, 9'008'192}, {800, 9'030'000}}));
    CHECK(!connection_bytes({{0, 9'000'000}, {200, 8'900'000}}));
    CHECK(!connection_bytes({{0, 9'000'000}}));
    // One level that grew says nothing by itself: part of it was there before.
    CHECK(!connection_bytes({{0, 9'000'000}, {200, 9'000'000}, {400, 10'000'000}}));
}

TEST_CASE("flat levels are left out of the slope")
{
    auto const each =
        connection_bytes({{0, 9'000'000}, {200, 9'000'000}, {400, 10'000'000}, {800, 14'000'000}});
    REQUIRE(each);
    CHECK(*each == doctest::Approx(10'000));
    CHECK(connection_bytes({{0, 1'000'000}, {100, 2'000'000}}).value() == doctest::Approx(10'000));
}

} // namespace
} // namespace cleat::bench::staircase_test
