// The bytes come from blocks; none is given twice.

#include "system/entropy.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>

namespace cleat::bench::entropy_test {
namespace {

TEST_CASE("fresh bytes in sizes that do not fill a block")
{
    entropy source;
    std::set<std::array<std::byte, 12>> seen;
    for (int i = 0; i != 10'000; ++i)
        seen.insert(source.bytes<12>());
    CHECK(seen.size() == 10'000);
    std::set<std::array<std::byte, entropy::block_size>> blocks;
    for (int i = 0; i != 10; ++i)
        blocks.insert(source.bytes<entropy::block_size>());
    CHECK(blocks.size() == 10);
}

} // namespace
} // namespace cleat::bench::entropy_test
