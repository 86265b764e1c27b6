#include "overload/cost_share.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

namespace cleat::app::cost_share_test {
namespace {

using namespace std::chrono_literals;
using enum signature_cost;

constexpr cost_share::duration cheap = 150us;
constexpr cost_share::duration dear = 700us;

// Serves what comes next while both wait, so often, and finds how long each cost had.
struct shares
{
    cost_share::duration low{};
    cost_share::duration high{};
    cost_share::duration longest_gap{}; // Between two dear ones.
};

shares serve_both(
    cost_share& machine, int count, cost_share::duration low_time = cheap,
    cost_share::duration high_time = dear)
{
    shares found;
    cost_share::duration gap{};
    for (int i = 0; i != count; ++i) {
        signature_cost const next = machine.next();
        cost_share::duration const time = next == low ? low_time : high_time;
        machine.served(next, time, true);
        (next == low ? found.low : found.high) += time;
        gap = next == low ? gap + time : cost_share::duration{};
        found.longest_gap = std::max(found.longest_gap, gap);
    }
    return found;
}

TEST_CASE("a cheap one comes first")
{
    CHECK(cost_share{}.next() == low);
    cost_share machine;
    machine.served(high, dear, false);
    CHECK(machine.next() == low);
}

TEST_CASE("in a flood of cheap ones the others have their share of the time, and no more")
{
    cost_share machine;
    machine.served(high, dear, false);
    shares const found = serve_both(machine, 10'000);
    double const share = static_cast<double>(found.high.count()) /
                         static_cast<double>((found.low + found.high).count());
    CHECK(share > 0.24);
    CHECK(share < 0.26);
    CHECK(found.longest_gap <= (limits::line_share - 1) * dear + cheap);
}

TEST_CASE("it is the same share where all take equally long, or the cheap ones take longer")
{
    for (cost_share::duration const time : {dear, 3 * dear, 9 * dear}) {
        cost_share machine;
        machine.served(high, dear, false);
        shares const found = serve_both(machine, 10'000, time);
        double const share = static_cast<double>(found.high.count()) /
                             static_cast<double>((found.low + found.high).count());
        CHECK(share > 0.24);
        CHECK(share < 0.26);
    }
}

TEST_CASE("the first dear one has its turn, though nothing is known of its cost")
{
    cost_share machine;
    CHECK(serve_both(machine, 1'000).high > 0ns);
}

TEST_CASE("after a flood of dear ones a cheap one comes first, at once")
{
    cost_share machine;
    for (int i = 0; i != 1'000; ++i)
        machine.served(high, dear, false);
    CHECK(machine.next() == low);
}

TEST_CASE("what was owed while both waited is not kept for later")
{
    cost_share machine;
    machine.served(high, dear, false);
    for (int i = 0; i != 100; ++i)
        machine.served(low, cheap, true);
    CHECK(machine.next() == high);
    machine.served(low, cheap, false); // Meanwhile the others have left.
    CHECK(machine.owed() == 0ns);
    CHECK(machine.next() == low);
}

TEST_CASE("a pause of the process costs nobody the turn for long")
{
    cost_share machine;
    serve_both(machine, 100);
    machine.served(high, 10s, true);
    CHECK(machine.owed() >= -limits::line_cost_max - dear);
    shares const found = serve_both(machine, 10'000);
    // It is paid for, and the next one may be as dear.
    CHECK(found.longest_gap <= (limits::line_share - 1) * 2 * limits::line_cost_max);
    machine.served(low, 10s, true);
    CHECK(machine.owed() <= limits::line_cost_max);
    machine.served(low, -1s, true); // A clock that goes back owes nothing.
    CHECK(machine.owed() <= limits::line_cost_max);
}

} // namespace
} // namespace cleat::app::cost_share_test
