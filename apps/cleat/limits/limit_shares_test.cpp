#include "limits/limit_shares.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cleat::app::limit_shares_test {
namespace {

TEST_CASE("exact shares make up the limit")
{
    for (std::size_t const workers : {1U, 2U, 3U, 7U, 64U})
        for (std::uint32_t const limit : {64U, 100U, 1'000'003U}) {
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < workers; ++i) {
                std::uint32_t const share = exact_share(limit, i, workers);
                CHECK(share >= limit / workers);
                CHECK(share <= limit / workers + 1);
                sum += share;
            }
            CHECK(sum == limit);
        }
}

TEST_CASE("one worker has the whole limit")
{
    CHECK(lenient_share(10, 1) == 10);
    CHECK(burst_share(1, 1) == 1);
}

TEST_CASE("the guide's shares")
{
    CHECK(lenient_share(10, 4) == 8);
    CHECK(lenient_share(100, 4) == 40);
    CHECK(lenient_share(1000, 4) == 298);
    CHECK(lenient_share(100, 16) == 14);
    CHECK(burst_share(10, 16) == 4);
    CHECK(burst_share(100, 4) == 40);
}

TEST_CASE("a share is at most the limit, and a worker lets a client have something")
{
    CHECK(lenient_share(1, 64) == 1);
    CHECK(lenient_share(2, 2) == 2);
    CHECK(burst_share(1, 64) == 4);
}

// Of clients at half their limit, on workers that the kernel chooses at random.
TEST_CASE("a client at half of its limit is not refused")
{
    std::mt19937_64 random{1}; // NOLINT(cert-msc51-cpp): the same clients each time.
    for (std::size_t const workers : {2U, 4U, 16U, 64U})
        for (std::uint32_t const limit : {20U, 100U, 1000U}) {
            std::uint32_t const share = lenient_share(limit, workers);
            unsigned refused = 0;
            for (int client = 0; client < 1000; ++client) {
                std::vector<std::uint32_t> open(workers);
                for (std::uint32_t i = 0; i < limit / 2; ++i)
                    ++open[random() % workers];
                refused += *std::ranges::max_element(open) > share ? 1U : 0U;
            }
            CAPTURE(workers);
            CAPTURE(limit);
            CHECK(refused <= 5);
        }
}

} // namespace
} // namespace cleat::app::limit_shares_test
