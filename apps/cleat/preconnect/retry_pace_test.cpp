#include "preconnect/retry_pace.hpp"

#include <doctest/doctest.h>

namespace cleat::app::retry_pace_test {
namespace {

retry_pace::time_point const begin{std::chrono::hours{1}};

} // namespace

TEST_CASE("each failure in a row doubles the pause, up to a limit")
{
    retry_pace pace;
    CHECK_FALSE(pace.pauses(begin));
    CHECK(pace.failed(begin));
    CHECK(pace.pauses(begin));
    CHECK(pace.pause() == limits::preconnect_pause_min);
    CHECK_FALSE(pace.pauses(begin + limits::preconnect_pause_min));
    CHECK_FALSE(pace.failed(begin));
    CHECK(pace.pause() == 2 * limits::preconnect_pause_min);
    for (int i = 0; i != 100; ++i)
        CHECK_FALSE(pace.failed(begin));
    CHECK(pace.pause() == limits::preconnect_pause_max);
}

TEST_CASE("a success ends the pauses")
{
    retry_pace pace;
    CHECK_FALSE(pace.succeeded());
    pace.failed(begin);
    pace.failed(begin);
    CHECK(pace.is_failing());
    CHECK(pace.succeeded());
    CHECK_FALSE(pace.is_failing());
    CHECK_FALSE(pace.pauses(begin));
    CHECK(pace.failed(begin));
    CHECK(pace.pause() == limits::preconnect_pause_min);
}

} // namespace cleat::app::retry_pace_test
