// local_ports: the ports that the kernel gives to connections which ask for none, and each worker's
// slice of them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cleat::app {

/// local_ports_of_worker_min: workers get slices where each would have so many ports at least.
inline constexpr std::size_t local_ports_of_worker_min = 128;

/// local_ports is a range of ports.
struct local_ports
{
    std::uint16_t first = 0;
    std::uint16_t last = 0;

    friend bool operator==(local_ports const&, local_ports const&) = default;
};

/// read_local_ports is the range of this network namespace (ip_local_port_range, ip(7)). Nothing:
/// it cannot be read.
[[nodiscard]] std::optional<local_ports> read_local_ports() noexcept;

/// parse_local_ports reads two numbers, as the kernel writes them.
[[nodiscard]] std::optional<local_ports> parse_local_ports(std::string_view text) noexcept;

/// slice_of is the slice of a worker, numbered from 0. Nothing: one worker has all ports, and
/// slices of less than local_ports_of_worker_min would be used up too soon.
[[nodiscard]] std::optional<local_ports> slice_of(
    std::optional<local_ports> all, std::size_t worker, std::size_t workers) noexcept;

/// use_slice lets a later connect() of the socket take its port from the slice; without one, from
/// the whole range. False: the kernel has no such option (IP_LOCAL_PORT_RANGE, Linux 6.3).
bool use_slice(int socket, std::optional<local_ports> slice) noexcept;

} // namespace cleat::app
