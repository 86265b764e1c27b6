#include "memory/memory_level.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace cleat::app::memory_level_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

// A process with a limit of 100 MiB, so that a MiB is one percent.
struct process
{
    memory_levels levels{100 * mib};
    std::uint64_t workers = 1;

    memory_share reads(std::uint64_t used_mib, std::uint64_t open = 0, std::uint64_t half_open = 0)
    {
        return levels.on_reading({used_mib * mib, open, half_open}, workers);
    }
};

} // namespace

TEST_CASE("a level begins at its mark, and ends below another one")
{
    process p;
    CHECK(p.reads(79).level == memory_level::normal);
    CHECK(p.reads(80).level == memory_level::tight);
    CHECK(p.reads(76).level == memory_level::tight); // It does not flap.
    CHECK(p.reads(79).level == memory_level::tight);
    CHECK(p.reads(90).level == memory_level::full);
    CHECK(p.reads(86).level == memory_level::full);
    CHECK(p.reads(84).level == memory_level::tight);
    CHECK(p.reads(89).level == memory_level::tight);
    CHECK(p.reads(74).level == memory_level::normal);
    CHECK(p.reads(79).level == memory_level::normal);
}

TEST_CASE("a leap passes over a level, up and down")
{
    process p;
    CHECK(p.reads(95).level == memory_level::full);
    CHECK(p.reads(10).level == memory_level::normal);
    CHECK(p.reads(200).level == memory_level::full); // It may be above the limit.
    CHECK(p.reads(78).level == memory_level::tight);
}

TEST_CASE("from any level each reading leads to one that the marks allow")
{
    for (std::uint64_t before = 0; before <= 110; ++before)
        for (std::uint64_t now = 0; now <= 110; ++now) {
            process p;
            p.reads(before);
            memory_level const level = p.reads(now).level;
            if (now < memory_levels::tight_ends)
                REQUIRE(level == memory_level::normal);
            if (now >= memory_levels::tight_begins)
                REQUIRE(level != memory_level::normal);
            if (now >= memory_levels::full_begins)
                REQUIRE(level == memory_level::full);
            if (now < memory_levels::full_ends)
                REQUIRE(level != memory_level::full);
            REQUIRE(p.reads(now).level == level); // The same reading again changes nothing.
        }
}

TEST_CASE("connections count with what they may still take")
{
    process p;
    std::uint64_t const open = 10 * mib / memory_levels::connection_reserve;
    CHECK(p.reads(71, open).level == memory_level::tight);
    std::uint64_t const half_open = 10 * mib / memory_levels::handshake_reserve + 1;
    CHECK(p.reads(80, 0, half_open).level == memory_level::full);
}

TEST_CASE("so many connections may begin until the next reading that they stay below the mark")
{
    process p;
    CHECK(p.reads(58).admitted == 32 * mib / memory_levels::new_connection);
    CHECK(p.reads(89).admitted == mib / memory_levels::new_connection);
    CHECK(p.reads(90).admitted == 0);
    CHECK(p.reads(86).admitted == 0); // Still full.
    p.workers = 2;
    CHECK(p.reads(58).admitted == 16 * mib / memory_levels::new_connection);
}

TEST_CASE("it is full as soon as no worker has room for a connection")
{
    memory_levels levels{100 * mib};
    std::uint64_t const most = levels.part(memory_levels::full_begins);
    CHECK(levels.on_reading({most - 2 * memory_levels::new_connection}, 2).admitted == 1);
    memory_share const none = levels.on_reading({most - 2 * memory_levels::new_connection + 1}, 2);
    CHECK(none.level == memory_level::full);
    CHECK(none.admitted == 0);
}

TEST_CASE("far below the mark the number is not limited, so that it does not change")
{
    memory_levels large{std::uint64_t{1} << 40};
    CHECK(large.on_reading({}, 1) == memory_share{});
    CHECK(large.on_reading({std::uint64_t{1} << 39, 100'000, 1000}, 64) == memory_share{});
}

TEST_CASE("admissions of several workers, each of which uses its share up, never pass the mark")
{
    for (std::uint64_t workers = 1; workers <= 7; ++workers) {
        process p{.workers = workers};
        std::uint64_t used = 0; // Everything that was admitted has become memory.
        std::uint64_t connections = 0;
        for (int i = 0; i < 2000; ++i) {
            memory_share const share = p.levels.on_reading({used, connections, 0}, workers);
            REQUIRE(share.admitted != memory_share::unlimited);
            connections += share.admitted * workers;
            used += share.admitted * workers *
                    (memory_levels::new_connection - memory_levels::connection_reserve);
        }
        CHECK(used <= 90 * mib);
        CHECK(used + connections * memory_levels::connection_reserve <= 90 * mib);
        CHECK(used > 70 * mib);
    }
}

TEST_CASE("the levels have names")
{
    CHECK(to_string(memory_level::normal) == "normal");
    CHECK(to_string(memory_level::tight) == "tight");
    CHECK(to_string(memory_level::full) == "full");
}

} // namespace cleat::app::memory_level_test
