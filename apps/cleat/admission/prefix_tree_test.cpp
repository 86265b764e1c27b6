#include "admission/prefix_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cleat::app::prefix_tree_test {
namespace {

// The first bits of an address, one after the other: what a prefix is, in the plainest form.
template <std::size_t N>
bool has_plainly(prefix<N> const& one, std::array<std::uint8_t, N> const& address)
{
    for (unsigned i = 0; i < one.length; ++i)
        if ((one.bytes[i / 8] >> (7 - i % 8) & 1) != (address[i / 8] >> (7 - i % 8) & 1))
            return false;
    return true;
}

template <std::size_t N>
prefix<N> cut(prefix<N> one)
{
    for (unsigned i = one.length; i < N * 8; ++i)
        one.bytes[i / 8] &= static_cast<std::uint8_t>(~(1U << (7 - i % 8)));
    return one;
}

template <std::size_t N>
std::array<std::uint8_t, N> random_address(std::mt19937_64& random, unsigned values)
{
    std::array<std::uint8_t, N> made{};
    for (std::uint8_t& each : made)
        each = static_cast<std::uint8_t>(random() % values * 51);
    return made;
}

// Few different bytes, so that prefixes contain one another, and addresses are near them.
template <std::size_t N>
void compare_with_the_plain_model(std::uint64_t seed)
{
    std::mt19937_64 random{seed};
    for (int round = 0; round < 60; ++round) {
        std::vector<prefix<N>> all;
        std::size_t const count = random() % 40;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(cut(prefix<N>{
                random_address<N>(random, 3), static_cast<std::uint8_t>(1 + random() % (N * 8))}));
        prefix_tree<N> const tree{all};
        for (int i = 0; i < 400; ++i) {
            std::array<std::uint8_t, N> wanted = random_address<N>(random, 3);
            if (i % 2 != 0 && !all.empty()) { // One bit away from the edge of a prefix.
                prefix<N> const& near = all[random() % all.size()];
                wanted = near.bytes;
                unsigned const bit = static_cast<unsigned>(random() % (N * 8));
                wanted[bit / 8] ^= static_cast<std::uint8_t>(1U << (7 - bit % 8));
            }
            bool const expected = std::ranges::any_of(
                all, [&](prefix<N> const& each) { return has_plainly(each, wanted); });
            REQUIRE(tree.contains(wanted) == expected);
        }
    }
}

template <std::size_t N>
prefix_tree<N> million(std::uint64_t seed, unsigned length, std::uint8_t first)
{
    std::mt19937_64 random{seed};
    std::vector<prefix<N>> all;
    for (int i = 0; i < 1'000'000; ++i) {
        prefix<N> made{.length = static_cast<std::uint8_t>(length)};
        for (std::uint8_t& each : made.bytes)
            each = static_cast<std::uint8_t>(random());
        if (first != 0)
            made.bytes[0] = first;
        all.push_back(cut(made));
    }
    return prefix_tree<N>{std::move(all)};
}

} // namespace

TEST_CASE("a tree answers as the plain list of its prefixes does")
{
    compare_with_the_plain_model<4>(1);
    compare_with_the_plain_model<16>(2);
}

TEST_CASE("a tree without prefixes has no address, and one of no bits has every address")
{
    CHECK_FALSE(prefix_tree<4>{}.contains({192, 0, 2, 1}));
    CHECK_FALSE(prefix_tree<4>{std::vector<prefix<4>>{}}.contains({0, 0, 0, 0}));
    prefix_tree<4> const all{{{{}, 0}, {{192, 0, 2, 0}, 24}}};
    CHECK(all.contains({0, 0, 0, 0}));
    CHECK(all.contains({255, 255, 255, 255}));
    CHECK(all.size() == 1);
}

TEST_CASE("a prefix ends at its last address, whatever its length")
{
    for (unsigned length = 1; length <= 32; ++length) {
        prefix_tree<4> const tree{{{{128, 0, 0, 0}, static_cast<std::uint8_t>(length)}}};
        std::uint32_t const last =
            0x80000000U + static_cast<std::uint32_t>((1ULL << (32 - length)) - 1);
        auto const address = [](std::uint32_t number) {
            return std::array<std::uint8_t, 4>{
                static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
                static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
        };
        CHECK(tree.contains(address(0x80000000U)));
        CHECK(tree.contains(address(last)));
        CHECK_FALSE(tree.contains(address(0x7fffffffU)));
        CHECK_FALSE(tree.contains(address(last + 1)));
    }
}

TEST_CASE("a single address of IPv6 is found to its last bit")
{
    std::array<std::uint8_t, 16> one{0x20, 0x01, 0x0d, 0xb8};
    one[15] = 2;
    std::array<std::uint8_t, 16> other = one;
    other[15] = 3;
    prefix_tree<16> const alone{{{one, 128}}};
    CHECK(alone.contains(one));
    CHECK_FALSE(alone.contains(other));
    prefix_tree<16> const both{{{one, 128}, {other, 128}}};
    CHECK(both.contains(one));
    CHECK(both.contains(other));
    other[15] = 1;
    CHECK_FALSE(both.contains(other));
}

TEST_CASE("a million prefixes take few bytes each")
{
    prefix_tree<4> const networks = million<4>(3, 24, 0);
    prefix_tree<4> const addresses = million<4>(4, 32, 0);
    prefix_tree<16> const sites = million<16>(5, 48, 0x20);
    prefix_tree<16> const hosts = million<16>(6, 128, 0x20);
    CHECK(networks.size() > 900'000);
    CHECK(networks.memory() < 16 * networks.size());
    CHECK(addresses.memory() < 24 * addresses.size());
    CHECK(sites.memory() < 40 * sites.size());
    CHECK(hosts.memory() < 40 * hosts.size());
}

} // namespace cleat::app::prefix_tree_test
