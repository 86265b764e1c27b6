#include "report/tree.hpp"

#include <doctest/doctest.h>

namespace cleat::locks::tree_test {

namespace {

// main calls read and write; both take a lock, and read burns CPU.
profile two_callers()
{
    profile made;
    made.functions = {"pthread_mutex_lock", "read", "write", "main"};
    made.stacks = {
        {{0, 1, 3}, {.blocked_ns = 100, .acquisitions = 10}},
        {{0, 2, 3}, {.blocked_ns = 300, .acquisitions = 5}},
        {{1, 3}, {.cpu = 50}}};
    for (stack const& each : made.stacks)
        made.total += each.counts;
    made.thread_ns = 1000;
    return made;
}

bool all(profile const& recorded, weights const& w)
{
    static_cast<void>(recorded);
    static_cast<void>(w);
    return true;
}

bool blocked(profile const& recorded, weights const& w)
{
    return recorded.blocked_percent(w) > 20;
}

} // namespace

TEST_CASE("inverted, a tree begins where time is spent, the heaviest first")
{
    std::vector<tree_node> const roots = make_tree(two_callers(), direction::inverted, all);
    REQUIRE(roots.size() == 2);
    CHECK(roots[0].function == 0);
    CHECK(roots[0].counts.blocked_ns == 400);
    REQUIRE(roots[0].children.size() == 2);
    CHECK(roots[0].children[0].function == 2);
    CHECK(roots[0].children[0].counts.blocked_ns == 300);
    CHECK(roots[1].counts.cpu == 50);
}

TEST_CASE("from outside, one root holds everything")
{
    profile const recorded = two_callers();
    std::vector<tree_node> const roots = make_tree(recorded, direction::from_outermost, all);
    REQUIRE(roots.size() == 1);
    CHECK(roots[0].function == 3);
    CHECK(roots[0].counts.blocked_ns == recorded.total.blocked_ns);
    CHECK(roots[0].counts.cpu == recorded.total.cpu);
    CHECK(roots[0].children[0].function == 2);
}

TEST_CASE("a node that does not matter is left out with all nodes below it")
{
    std::vector<tree_node> const roots = make_tree(two_callers(), direction::inverted, blocked);
    REQUIRE(roots.size() == 1);
    REQUIRE(roots[0].children.size() == 1);
    CHECK(roots[0].children[0].function == 2);
}

} // namespace cleat::locks::tree_test
