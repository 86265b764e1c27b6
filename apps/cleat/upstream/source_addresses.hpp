// source_addresses: the local addresses that a worker's connections to an upstream come from.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace cleat::app {

/// source_addresses belongs to one worker, and takes the addresses of each family by turns.
class source_addresses
{
public:
    /// `first`: the turn that comes first, another one for each worker.
    source_addresses(std::span<net::address const> all, std::size_t first);

    /// connect makes a socket that is connecting to an address, or the error that the kernel knows
    /// at once. A source without a free port is passed over for the next one; where no source has
    /// one, the error is error::local_ports_used_up. UNIX sockets have no source.
    [[nodiscard]] result<unique_fd> connect(net::address const& destination) noexcept;

private:
    struct rotation
    {
        std::vector<net::address> addresses;
        std::size_t turn = 0;
    };

    [[nodiscard]] rotation& of_family(int family) noexcept;

    rotation ipv4_;
    rotation ipv6_;
    rotation none_; // Empty: for UNIX sockets.
};

/// check_source is an error where this machine has no such address.
[[nodiscard]] error_code check_source(net::address const& source) noexcept;

} // namespace cleat::app
