#include "limits/client_prefix.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cleat::app::client_prefix_test {
namespace {

using ipv4 = std::array<std::uint8_t, 4>;
using ipv6 = std::array<std::uint8_t, 16>;

TEST_CASE("an IPv4 address is a client, and so is a /64 of IPv6")
{
    prefix_lengths const usual;
    CHECK(prefix_of(ipv4{192, 0, 2, 1}, usual) != prefix_of(ipv4{192, 0, 2, 2}, usual));
    ipv6 const one{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8};
    ipv6 neighbour = one;
    neighbour[8] = 0xff;
    CHECK(prefix_of(one, usual) == prefix_of(neighbour, usual));
    ipv6 other = one;
    other[7] = 6;
    CHECK(prefix_of(one, usual) != prefix_of(other, usual));
}

TEST_CASE("lengths need not end at a byte")
{
    prefix_lengths const lengths{.ipv4 = 23, .ipv6 = 57};
    CHECK(prefix_of(ipv4{10, 0, 2, 1}, lengths) == prefix_of(ipv4{10, 0, 3, 255}, lengths));
    CHECK(prefix_of(ipv4{10, 0, 2, 1}, lengths) != prefix_of(ipv4{10, 0, 4, 1}, lengths));
    ipv6 const one{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0x80};
    ipv6 near = one;
    near[7] = 0xff;
    ipv6 far = one;
    far[7] = 0x7f;
    CHECK(prefix_of(one, lengths) == prefix_of(near, lengths));
    CHECK(prefix_of(one, lengths) != prefix_of(far, lengths));
}

TEST_CASE("all bits count where the length says so")
{
    prefix_lengths const lengths{.ipv4 = 32, .ipv6 = 128};
    ipv6 const one{0x20, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    CHECK(prefix_of(one, lengths) == one);
}

TEST_CASE("an IPv4 address in the form of IPv6 is the same client")
{
    ipv6 const mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
    CHECK(prefix_of(mapped, {}) == prefix_of(ipv4{192, 0, 2, 1}, {}));
    CHECK(prefix_of(mapped, {}) != prefix_of(ipv4{192, 0, 2, 2}, {}));
}

} // namespace
} // namespace cleat::app::client_prefix_test
