// address_set: a set of IP addresses, made of prefixes.

#pragma once

#include "admission/ip_prefix.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cleat::app {

/// address_set never changes. A lookup takes the logarithm of the number of prefixes.
class address_set
{
public:
    address_set() = default;
    explicit address_set(std::span<ip_prefix const> prefixes);

    [[nodiscard]] bool empty() const noexcept { return ranges_[0].empty() && ranges_[1].empty(); }

    [[nodiscard]] bool contains(ip_address const& address) const noexcept;

    /// covers: it contains every address of the other set.
    [[nodiscard]] bool covers(address_set const& other) const noexcept;

private:
    using bytes = std::array<std::uint8_t, 16>;
    struct range
    {
        bytes first{};
        bytes last{};
    };
    using ranges = std::vector<range>;

    [[nodiscard]] static ranges join(ranges all, std::size_t size);
    [[nodiscard]] static bool contains(
        ranges const& all, bytes const& first, bytes const& last) noexcept;

    std::array<ranges, 2> ranges_; // IPv4, IPv6. Sorted; no two of them touch.
};

} // namespace cleat::app
