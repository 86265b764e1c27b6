#include "limits/limited_route.hpp"

#include <doctest/doctest.h>

namespace cleat::app::limited_route_test {
namespace {

TEST_CASE("a route has so many connections, and gets each back at its end")
{
    worker_limits limits{0, 1};
    limits.follow({}, nullptr);
    frontend_limit const two{"[*]:443 0 route sni a.test", 2};
    limited_route first;
    CHECK(first.admit(limits, two));
    {
        limited_route second;
        CHECK(second.admit(limits, two));
        limited_route third;
        CHECK_FALSE(third.admit(limits, two));
    } // The third has no place to give back.
    limited_route fourth;
    CHECK(fourth.admit(limits, two));
    limited_route fifth;
    CHECK_FALSE(fifth.admit(limits, two));
    CHECK(fifth.admit(limits, {"[*]:443 0 route sni b.test", 1}));
}

TEST_CASE("a route's connections are counted over configurations")
{
    worker_limits limits{0, 1};
    limits.follow({}, nullptr);
    frontend_limit const one{"[*]:443 0 route sni a.test", 1};
    limited_route kept;
    REQUIRE(kept.admit(limits, one));
    for (int reloads = 0; reloads != 3; ++reloads)
        limits.follow({}, nullptr);
    limited_route next;
    CHECK_FALSE(next.admit(limits, one));
}

} // namespace
} // namespace cleat::app::limited_route_test
