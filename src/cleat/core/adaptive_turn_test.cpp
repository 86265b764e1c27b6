#include <cleat/core/adaptive_turn.hpp>

#include <doctest/doctest.h>

namespace cleat::adaptive_turn_test {
namespace {

TEST_CASE("a turn that is used up is followed by one of twice the size, up to the most")
{
    adaptive_turn<2, 9> turn;
    CHECK(turn.size() == 2);
    turn.used(2);
    CHECK(turn.size() == 4);
    turn.used(100); // More than the turn: as much as it could, all the same.
    CHECK(turn.size() == 8);
    turn.used(8);
    CHECK(turn.size() == 9);
    turn.used(9);
    CHECK(turn.size() == 9);
}

TEST_CASE("a turn that is not used up keeps its size")
{
    adaptive_turn<2, 8> turn{4};
    turn.used(3);
    turn.used(0);
    CHECK(turn.size() == 4);
}

TEST_CASE("a receiver that does not keep up halves the turn, down to the least")
{
    adaptive_turn<3, 16> turn{16};
    turn.shrink();
    CHECK(turn.size() == 8);
    turn.shrink();
    CHECK(turn.size() == 4);
    turn.shrink();
    CHECK(turn.size() == 3);
    turn.shrink();
    CHECK(turn.size() == 3);
}

TEST_CASE("a turn that was used up and not taken keeps its size")
{
    adaptive_turn<2, 16> turn{4};
    turn.used(4);
    turn.shrink();
    CHECK(turn.size() == 4);
}

TEST_CASE("with nothing to do a turn begins anew")
{
    adaptive_turn<1, 64> turn{32};
    turn.restart();
    CHECK(turn.size() == 1);
}

} // namespace
} // namespace cleat::adaptive_turn_test
