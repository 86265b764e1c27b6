// source_addresses: the local addresses that a worker's connections to an upstream come from.

#pragma once

#include "upstream/local_ports.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cleat::app {

/// source_addresses belongs to one worker, and takes the addresses of each family by turns.
class source_addresses
{
public:
    /// `first`: the turn that comes first, another one for each worker. `slice` is the worker's
    /// ports, if it has some of its own.
    source_addresses(
        std::span<net::address const> all, std::size_t first,
        std::optional<local_ports> slice = {});

    /// connect makes a socket that is connecting to an address, or the error that the kernel knows
    /// at once. A source without a free port is passed over for the next one; where no source has
    /// one, the error is error::local_ports_used_up. UNIX sockets have no source.
    ///
    /// Ports come from the worker's slice, so that workers do not search the same places of the
    /// kernel's table of ports. Where the slice is used up, they come from the whole range.
    [[nodiscard]] result<unique_fd> connect(net::address const& destination) noexcept;

private:
    struct rotation
    {
        std::vector<net::address> addresses;
        std::size_t turn = 0;
    };

    [[nodiscard]] rotation& of_family(int family) noexcept;
    [[nodiscard]] result<unique_fd> connect_from_any(net::address const& destination) noexcept;
    [[nodiscard]] result<unique_fd> connect_from(
        net::address const* source, net::address const& destination) noexcept;

    rotation ipv4_;
    rotation ipv6_;
    rotation none_; // Empty: for UNIX sockets.
    std::optional<local_ports> slice_;
    std::size_t without_slice_ = 0; // So many connects: the slice was used up.
};

/// check_source is an error where this machine has no such address.
[[nodiscard]] error_code check_source(net::address const& source) noexcept;

} // namespace cleat::app
