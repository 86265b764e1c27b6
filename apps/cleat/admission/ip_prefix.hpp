// ip_prefix: an IP address, and all addresses that begin with the same bits.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// ip_address is an IPv4 or IPv6 address, in network byte order.
struct ip_address
{
    bool is_ipv6 = false;
    std::array<std::uint8_t, 16> bytes{}; ///< Of IPv4 the first four; the rest is 0.

    [[nodiscard]] std::size_t size() const noexcept { return is_ipv6 ? 16 : 4; }

    friend bool operator==(ip_address const&, ip_address const&) = default;
};

/// ip_prefix is a network, such as 192.0.2.0/24.
struct ip_prefix
{
    ip_address network{}; ///< The bits behind the prefix are 0.
    unsigned length = 0;  ///< In bits: at most 32 or 128.

    friend bool operator==(ip_prefix const&, ip_prefix const&) = default;
};

} // namespace cleat::app
