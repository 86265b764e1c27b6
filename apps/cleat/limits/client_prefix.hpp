// client_prefix: the part of a client's address that its limits are for.

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace cleat::app {

/// client_prefix is in the form of IPv6, also for IPv4 (RFC 4291, section 2.5.5.2), with zeros
/// behind its length.
using client_prefix = std::array<std::uint8_t, 16>;

/// prefix_lengths are how many bits of an address count.
struct prefix_lengths
{
    std::uint8_t ipv4 = 32;
    std::uint8_t ipv6 = 64;

    friend bool operator==(prefix_lengths const&, prefix_lengths const&) = default;
};

/// prefix_of takes an address of 4 or 16 bytes. An IPv4 address in the form of IPv6 is one of IPv4.
[[nodiscard]] client_prefix prefix_of(
    std::span<std::uint8_t const> address, prefix_lengths const& lengths) noexcept;

} // namespace cleat::app
