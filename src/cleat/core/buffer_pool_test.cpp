#include <cleat/core/buffer_pool.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cleat {

TEST_CASE("a block is lent again after it was given back")
{
    buffer_pool pool{4096, 8};
    std::byte* first = nullptr;
    {
        buffer_pool::block const block = pool.borrow();
        REQUIRE(block);
        REQUIRE(block.bytes().size() == 4096);
        first = block.bytes().data();
        std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0xaa});
        CHECK(pool.lent() == 1);
        CHECK(pool.kept() == 0);
    }
    CHECK(pool.lent() == 0);
    CHECK(pool.kept() == 1);
    CHECK(pool.borrow().bytes().data() == first);
}

TEST_CASE("a burst grows the pool, but only the bound is kept")
{
    buffer_pool pool{64, 2};
    std::vector<buffer_pool::block> burst;
    for (int i = 0; i != 5; ++i)
        burst.push_back(pool.borrow());
    CHECK(pool.lent() == 5);

    // No two of them overlap.
    for (std::size_t i = 0; i != burst.size(); ++i)
        std::fill(burst[i].bytes().begin(), burst[i].bytes().end(), static_cast<std::byte>(i));
    for (std::size_t i = 0; i != burst.size(); ++i)
        CHECK(
            std::count(
                burst[i].bytes().begin(), burst[i].bytes().end(), static_cast<std::byte>(i)) == 64);

    burst.clear();
    CHECK(pool.lent() == 0);
    CHECK(pool.kept() == 2);
    pool.trim();
    CHECK(pool.kept() == 0);
}

TEST_CASE("a pool that keeps nothing still lends")
{
    buffer_pool pool{64, 0};
    CHECK(pool.borrow());
    CHECK(pool.kept() == 0);
}

TEST_CASE("moving a block moves the debt")
{
    buffer_pool pool{64, 8};
    buffer_pool::block first = pool.borrow();
    std::byte* const data = first.bytes().data();
    buffer_pool::block second = std::move(first);
    CHECK_FALSE(first); // NOLINT: promised
    CHECK(first.bytes().empty());
    CHECK(second.bytes().data() == data);

    second = pool.borrow(); // Gives the first one back.
    CHECK(pool.lent() == 1);
    CHECK(pool.kept() == 1);

    buffer_pool::block& itself = second;
    second = std::move(itself);
    CHECK(second);
    second.reset();
    second.reset();
    CHECK(pool.lent() == 0);
    CHECK(pool.kept() == 2);
}

TEST_CASE("a block larger than the address space is no block")
{
    buffer_pool pool{static_cast<std::size_t>(-1) / 4, 1};
    CHECK_FALSE(pool.borrow());
    CHECK(pool.lent() == 0);
}

} // namespace cleat
