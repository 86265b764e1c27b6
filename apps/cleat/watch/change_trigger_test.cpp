#include "watch/change_trigger.hpp"

#include <doctest/doctest.h>

namespace cleat::app::change_trigger_test {
namespace {

using namespace std::chrono_literals;
using clock = change_trigger::clock;

constexpr clock::time_point start{1h};
constexpr auto settle_time = change_trigger::settle_time;
constexpr auto settle_max = change_trigger::settle_max;
constexpr auto patience = change_trigger::patience;

} // namespace

TEST_CASE("a reload is due when the files have been quiet for a while")
{
    change_trigger t;
    CHECK(!t.due());
    t.changed(start);
    CHECK(t.due() == start + settle_time);
    t.changed(start + 150ms);
    CHECK(t.due() == start + 150ms + settle_time);
    CHECK(t.begin(*t.due()));
    CHECK(!t.due());
    t.settled();
    CHECK(!t.due());
}

TEST_CASE("files that never rest do not keep a reload off")
{
    change_trigger t;
    for (clock::time_point now = start; now < start + settle_max; now += 50ms)
        t.changed(now);
    CHECK(t.due() == start + settle_max);
}

TEST_CASE("a refused reload waits for the other half, or for the end of patience")
{
    change_trigger t;
    t.changed(start);
    CHECK(t.begin(start + settle_time));
    t.refused();
    CHECK(t.due() == start + patience);

    SUBCASE("the other half comes")
    {
        t.changed(start + 3s);
        CHECK(t.due() == start + 3s + settle_time);
        CHECK(t.begin(*t.due()));
        t.settled();
        CHECK(!t.due());
        t.changed(start + 20s); // Another renewal.
        CHECK(t.begin(start + 20s + settle_time));
    }
    SUBCASE("it does not come")
    {
        CHECK(!t.begin(*t.due()));
        t.settled();
        CHECK(!t.due());
    }
    SUBCASE("other files change all the time")
    {
        for (clock::time_point now = start + 1s; now < start + patience; now += 1s) {
            t.changed(now);
            CHECK(t.begin(*t.due()) == (now + settle_time < start + patience));
            t.refused();
        }
        CHECK(t.due() == start + patience);
    }
}

TEST_CASE("a change during a reload makes another one due, whatever comes of the first")
{
    for (bool const is_refused : {false, true}) {
        CAPTURE(is_refused);
        change_trigger t;
        t.changed(start);
        CHECK(t.begin(start + settle_time));
        t.changed(start + 1s);
        if (is_refused)
            t.refused();
        else
            t.settled();
        CHECK(t.due() == start + 1s + settle_time);
        CHECK(t.begin(*t.due()));
    }
}

} // namespace cleat::app::change_trigger_test
