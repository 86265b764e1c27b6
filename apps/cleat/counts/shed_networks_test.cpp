#include "counts/shed_networks.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::shed_networks_test {
namespace {

using ipv4 = std::array<std::uint8_t, 4>;

ipv4 host(unsigned network, std::uint8_t number = 1)
{
    return {
        10, static_cast<std::uint8_t>(network >> 8U), static_cast<std::uint8_t>(network), number};
}

TEST_CASE("clients are counted by network")
{
    auto const counts = std::make_unique<shed_networks>();
    CHECK(counts->read().empty());
    for (std::uint8_t each = 0; each != 5; ++each)
        counts->add(host(1, each));
    counts->add(host(2));
    std::array<std::uint8_t, 16> far{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8};
    counts->add(far);
    far[15] = 9;
    counts->add(far);
    counts->add({}); // A socket of another family.
    std::vector<shed_network> const found = most_shed(counts->read(), 10);
    REQUIRE(found.size() == 3);
    CHECK(network_text(found[0].network) == "10.0.1.0/24");
    CHECK(found[0].count == 5);
    CHECK(network_text(found[1].network) == "2001:db8:0:7::/64");
    CHECK(found[1].count == 2);
    CHECK(network_text(found[2].network) == "10.0.2.0/24");
    CHECK(found[2].excess == 0);
}

TEST_CASE("a network with much of a flood keeps its place, whatever else comes")
{
    auto const counts = std::make_unique<shed_networks>();
    constexpr std::uint64_t rounds = 10'000;
    for (unsigned i = 0; i != rounds; ++i) { // One in four is of one network.
        counts->add(host(65'000));
        for (unsigned other = 0; other != 3; ++other)
            counts->add(host((3 * i + other) % 60'000));
    }
    std::vector<shed_network> const found = counts->read();
    CHECK(found.size() == limits::shed_networks_max);
    std::vector<shed_network> const most = most_shed(found, 1);
    CHECK(network_text(most[0].network) == "10.253.232.0/24");
    CHECK(most[0].count >= rounds);
    CHECK(most[0].count - most[0].excess <= rounds);
    std::uint64_t sum = 0;
    for (shed_network const& each : found)
        sum += each.count;
    CHECK(sum == 4 * rounds);
}

TEST_CASE("the workers' counts are added up")
{
    auto const one = std::make_unique<shed_networks>();
    auto const other = std::make_unique<shed_networks>();
    one->add(host(1));
    other->add(host(1));
    other->add(host(2));
    std::vector<shed_network> all = one->read();
    for (shed_network const& each : other->read())
        all.push_back(each);
    std::vector<shed_network> const found = most_shed(all, 10);
    REQUIRE(found.size() == 2);
    CHECK(found[0].count == 2);
    CHECK(most_shed(all, 1).size() == 1);
}

} // namespace
} // namespace cleat::app::shed_networks_test
