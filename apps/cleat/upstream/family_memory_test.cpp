#include "upstream/family_memory.hpp"

#include <doctest/doctest.h>

namespace cleat::app::family_memory_test {
namespace {

family_memory::time_point const begin{std::chrono::hours{1}};

} // namespace

TEST_CASE("the family of the first address is the first until the other one answers")
{
    family_memory seen;
    CHECK_FALSE(seen.second_first(begin));
    seen.answered(begin, false, false);
    CHECK_FALSE(seen.second_first(begin));
    seen.answered(begin, true, false);
    CHECK(seen.second_first(begin));
}

TEST_CASE("after a time one connection tries the first family again, and the others do not")
{
    family_memory seen;
    seen.answered(begin, true, false);
    family_memory::time_point const later = begin + limits::family_time;
    CHECK(seen.second_first(later - std::chrono::milliseconds{1}));
    CHECK_FALSE(seen.second_first(later));
    CHECK(seen.second_first(later));
    SUBCASE("in vain")
    {
        seen.answered(later, true, false);
        CHECK(seen.second_first(later + limits::family_trial));
        CHECK_FALSE(seen.second_first(later + limits::family_time));
    }
    SUBCASE("and it answers")
    {
        seen.answered(later, false, false);
        CHECK_FALSE(seen.second_first(later));
        seen.answered(later, true, true); // A connection that began before.
        CHECK_FALSE(seen.second_first(later));
    }
    SUBCASE("and nothing is heard of it")
    {
        CHECK_FALSE(seen.second_first(later + limits::family_trial));
    }
}

TEST_CASE("a connection that began with the second family does not make its time longer")
{
    family_memory seen;
    seen.answered(begin, true, false);
    seen.answered(begin + limits::family_time / 2, true, true);
    CHECK_FALSE(seen.second_first(begin + limits::family_time));
}

TEST_CASE("the first family serves again where the second one has failed")
{
    family_memory seen;
    seen.answered(begin, true, false);
    seen.answered(begin, false, true);
    CHECK_FALSE(seen.second_first(begin));
}

} // namespace cleat::app::family_memory_test
