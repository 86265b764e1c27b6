#include "memory/trim_schedule.hpp"
#include "memory/wave.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace cleat::app::trim_schedule_test {
namespace {

using namespace std::chrono_literals;
using time = trim_schedule::clock::time_point;

constexpr time start = time{} + 1h;

void rise(wave& each, std::size_t from, std::size_t to)
{
    for (std::size_t i = from + 1; i <= to; ++i)
        each.on_rise(i);
}

void fall(wave& each, std::size_t from, std::size_t to)
{
    for (std::size_t i = from; i > to; --i)
        each.on_fall(i - 1);
}

TEST_CASE("a wave has ended when half of it has gone")
{
    wave connections;
    rise(connections, 0, 2'000);
    fall(connections, 2'000, 1'001);
    CHECK(connections.ended() == 0);
    fall(connections, 1'001, 1'000);
    CHECK(connections.ended() == 1);
    fall(connections, 1'000, 500); // Half of what was left.
    CHECK(connections.ended() == 2);
    fall(connections, 500, 0);
    CHECK(connections.ended() == 3); // At 244; what was left then is less than a wave.
}

TEST_CASE("connections that come and go by less than a wave are none")
{
    wave connections;
    for (int i = 0; i < 100; ++i) {
        rise(connections, 0, wave::wave_size - 1);
        fall(connections, wave::wave_size - 1, 0);
    }
    CHECK(connections.ended() == 0);
}

TEST_CASE("many connections of which few leave are no wave")
{
    wave connections;
    rise(connections, 0, 10'000);
    fall(connections, 10'000, 6'000);
    CHECK(connections.ended() == 0);
}

TEST_CASE("memory goes back once when all has been calm")
{
    trim_schedule schedule;
    CHECK_FALSE(schedule.is_time(start, 0));
    CHECK_FALSE(schedule.is_time(start + 1s, 3));
    CHECK_FALSE(schedule.is_time(start + 2s, 3));
    CHECK(schedule.is_time(start + 3s, 3));
    CHECK_FALSE(schedule.is_time(start + 4s, 3));
    CHECK_FALSE(schedule.is_time(start + 1h, 3));
}

TEST_CASE("waves one after the other keep their memory until the last has ended")
{
    trim_schedule schedule;
    for (int i = 1; i <= 20; ++i)
        CHECK_FALSE(schedule.is_time(start + i * 1s, static_cast<std::uint64_t>(i)));
    CHECK_FALSE(schedule.is_time(start + 21s, 20));
    CHECK(schedule.is_time(start + 22s, 20));
}

TEST_CASE("memory does not go back more often than each ten seconds")
{
    trim_schedule schedule;
    CHECK_FALSE(schedule.is_time(start, 1));
    CHECK(schedule.is_time(start + 2s, 1));
    CHECK_FALSE(schedule.is_time(start + 3s, 2));
    CHECK_FALSE(schedule.is_time(start + 11s, 2));
    CHECK(schedule.is_time(start + 12s, 2));
}

} // namespace
} // namespace cleat::app::trim_schedule_test
