#include "config/problem_list.hpp"
#include "snapshot/memory_planning.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::memory_planning_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

setting<memory_bound> bound_of(std::uint64_t bytes)
{
    return {memory_bound{.bytes = bytes}, {"cleat.conf", 7, 1}};
}

} // namespace

TEST_CASE("without max-memory nothing is planned, and nothing is too small")
{
    std::vector<problem> problems;
    problem_list list{problems};
    CHECK(plan_memory(config{}, list) == 0);
    CHECK(problems.empty());
    CHECK_FALSE(memory_shortage(bound_of(0), 0, {1000 * mib}).has_value());
}

TEST_CASE("a chroot hides what the gauge reads")
{
    config settings;
    settings.max_memory = bound_of(128 * mib);
    settings.chroot = {"/srv", {"cleat.conf", 8, 1}};
    std::vector<problem> problems;
    problem_list list{problems};
    static_cast<void>(plan_memory(settings, list));
    REQUIRE(!problems.empty());
    CHECK(
        to_string(problems.front()).starts_with("cleat.conf:7:1: error: max-memory: the chroot "));
}

TEST_CASE("a start needs some room below the mark at which memory is tight")
{
    CHECK_FALSE(memory_shortage(bound_of(100 * mib), 100 * mib, {63 * mib}).has_value());
    std::optional<problem> const found =
        memory_shortage(bound_of(100 * mib), 100 * mib, {65 * mib});
    REQUIRE(found.has_value());
    CHECK(
        to_string(*found) ==
        "cleat.conf:7:1: error: max-memory: 100 MiB are too few: 65 MiB are in use without any "
        "connection, with these certificates. Write 103 MiB or more, or lower certificate-cache "
        "or workers.");
    CHECK_FALSE(memory_shortage(bound_of(103 * mib), 103 * mib, {65 * mib}).has_value());
}

TEST_CASE("a reload needs room for what is in use now")
{
    std::optional<problem> const found =
        memory_shortage(bound_of(100 * mib), 100 * mib, {65 * mib, true});
    REQUIRE(found.has_value());
    CHECK(found->text.find("65 MiB are in use now, with the connections") != std::string::npos);
}

} // namespace cleat::app::memory_planning_test
