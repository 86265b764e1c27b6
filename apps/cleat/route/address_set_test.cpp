#include "route/address_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace cleat::app::address_set_test {
namespace {

ip_prefix ipv4(std::initializer_list<std::uint8_t> bytes, unsigned length)
{
    ip_prefix made{.length = length};
    std::copy(bytes.begin(), bytes.end(), made.network.bytes.begin());
    return made;
}

ip_prefix ipv6(std::initializer_list<std::uint8_t> bytes, unsigned length)
{
    ip_prefix made = ipv4(bytes, length);
    made.network.is_ipv6 = true;
    return made;
}

address_set set_of(std::initializer_list<ip_prefix> prefixes)
{
    return address_set{std::vector<ip_prefix>{prefixes}};
}

TEST_CASE("an empty set has no address, and every set covers it")
{
    address_set const nothing;
    CHECK(nothing.empty());
    CHECK_FALSE(nothing.contains(ipv4({10, 0, 0, 1}, 32).network));
    CHECK(nothing.covers(nothing));
    CHECK(set_of({ipv4({10}, 8)}).covers(nothing));
    CHECK_FALSE(nothing.covers(set_of({ipv4({10}, 8)})));
}

TEST_CASE("the first and the last address of a prefix are in it, their neighbours are not")
{
    address_set const some =
        set_of({ipv4({192, 0, 2, 64}, 26), ipv6({0x20, 0x01, 0x0d, 0xb8}, 32)});
    CHECK_FALSE(some.contains(ipv4({192, 0, 2, 63}, 32).network));
    CHECK(some.contains(ipv4({192, 0, 2, 64}, 32).network));
    CHECK(some.contains(ipv4({192, 0, 2, 127}, 32).network));
    CHECK_FALSE(some.contains(ipv4({192, 0, 2, 128}, 32).network));
    CHECK(some.contains(ipv6({0x20, 0x01, 0x0d, 0xb8}, 128).network));
    CHECK_FALSE(some.contains(ipv6({0x20, 0x01, 0x0d, 0xb9}, 128).network));
    CHECK_FALSE(some.contains(ipv4({0x20, 0x01, 0x0d, 0xb8}, 32).network));
}

TEST_CASE("0.0.0.0/0 is every IPv4 address, and no IPv6 address")
{
    address_set const all = set_of({ipv4({}, 0)});
    CHECK(all.contains(ipv4({255, 255, 255, 255}, 32).network));
    CHECK(all.contains(ipv4({}, 32).network));
    CHECK_FALSE(all.contains(ipv6({}, 128).network));
    CHECK(all.covers(set_of({ipv4({10}, 8), ipv4({255}, 8)})));
    CHECK_FALSE(all.covers(set_of({ipv6({}, 128)})));
}

TEST_CASE("two halves cover the whole, also at the end of all addresses")
{
    address_set const halves = set_of({ipv4({255, 128}, 9), ipv4({255}, 9)});
    CHECK(halves.covers(set_of({ipv4({255}, 8)})));
    CHECK_FALSE(halves.covers(set_of({ipv4({254}, 8)})));
    CHECK(set_of({ipv6({0xff, 0x80}, 9), ipv6({0xff}, 9)}).covers(set_of({ipv6({0xff}, 8)})));
    CHECK_FALSE(set_of({ipv4({10}, 16), ipv4({10, 2}, 16)}).covers(set_of({ipv4({10}, 15)})));
}

TEST_CASE("any set has the addresses of its prefixes, and no others")
{
    std::minstd_rand random{7};
    for (int round = 0; round < 200; ++round) {
        std::vector<ip_prefix> prefixes;
        for (int i = 0; i < 6; ++i) {
            // All in 10.0.0.0/24, where each address can be tried.
            unsigned const length = 24 + static_cast<unsigned>(random() % 9);
            unsigned const mask = 0xffU << (32 - length) & 0xffU;
            prefixes.push_back(
                ipv4({10, 0, 0, static_cast<std::uint8_t>(random() % 256 & mask)}, length));
        }
        address_set const made{prefixes};
        for (unsigned last = 0; last != 256; ++last) {
            bool expected = false;
            for (ip_prefix const& each : prefixes)
                expected |= last >> (32 - each.length) ==
                            static_cast<unsigned>(each.network.bytes[3]) >> (32 - each.length);
            ip_prefix const one = ipv4({10, 0, 0, static_cast<std::uint8_t>(last)}, 32);
            CHECK(made.contains(one.network) == expected);
            CHECK(made.covers(set_of({one})) == expected);
        }
    }
}

} // namespace
} // namespace cleat::app::address_set_test
