#include "memory/memory_pressure.hpp"

#include <doctest/doctest.h>

namespace cleat::app::memory_pressure_test {

TEST_CASE("without max-memory every connection is admitted, and turns are as large as ever")
{
    memory_pressure here;
    for (int i = 0; i < 100'000; ++i)
        REQUIRE(here.admits());
    CHECK(here.turn_max() == limits::turn_max);
    CHECK(here.level() == memory_level::normal);
}

TEST_CASE("a share of two admits two, until the next reading")
{
    memory_pressure here;
    here.follow({.level = memory_level::tight, .admitted = 2});
    CHECK(here.admits());
    CHECK(here.admits());
    CHECK_FALSE(here.admits());
    CHECK_FALSE(here.admits());
    here.follow({.level = memory_level::tight, .admitted = 1});
    CHECK(here.admits());
    CHECK_FALSE(here.admits());
    here.follow({.level = memory_level::normal, .admitted = memory_share::unlimited});
    CHECK(here.admits());
}

TEST_CASE("the shorter memory is, the smaller are the turns")
{
    memory_pressure here;
    here.follow({.level = memory_level::tight, .admitted = 2});
    CHECK(here.turn_max() == limits::turn_tight);
    here.follow({.level = memory_level::full, .admitted = 0});
    CHECK(here.turn_max() == limits::turn_full);
    CHECK_FALSE(here.admits());
    here.follow({});
    CHECK(here.turn_max() == limits::turn_max);
}

TEST_CASE("stalled connections end once for each time, also where a share was missed")
{
    memory_pressure here;
    CHECK_FALSE(here.follow({.level = memory_level::tight}));
    CHECK(here.follow({.level = memory_level::full, .evictions = 1}));
    CHECK_FALSE(here.follow({.level = memory_level::full, .evictions = 1}));
    // The share of the second time has been replaced by the next one before the worker saw it.
    CHECK(here.follow({.level = memory_level::full, .evictions = 2, .admitted = 3}));
    CHECK_FALSE(here.follow({.level = memory_level::full, .evictions = 2, .admitted = 0}));
    CHECK(here.follow({.level = memory_level::full, .evictions = 5}));
    // Memory is there again: nothing has to end any more.
    CHECK_FALSE(here.follow({.level = memory_level::tight, .evictions = 6}));
    CHECK_FALSE(here.follow({.level = memory_level::full, .evictions = 6}));
    CHECK(here.follow({.level = memory_level::full, .evictions = 7}));
}

} // namespace cleat::app::memory_pressure_test
