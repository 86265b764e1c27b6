// frontend_sockets: which of the passed sockets are a frontend's.

#pragma once

#include "activation/passed_sockets.hpp"
#include "snapshot/snapshot.hpp"

#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// descriptor_name is how FileDescriptorName= names a frontend: "*,443" for [*]:443, because such a
/// name has no colon. Nothing can name a frontend with an IPv6 address.
[[nodiscard]] std::string descriptor_name(std::string const& frontend);

/// is_named: the unit names the frontend for this socket.
[[nodiscard]] bool is_named(passed_socket const& socket, frontend_plan const& plan);

/// is_covered: a socket for any address, of IPv6 and IPv4, takes the connections of this address.
[[nodiscard]] bool is_covered(net::address const& covering, net::address const& address);

/// address_group is the sockets with one address: a queue of connections each.
struct address_group
{
    net::address address;
    bool is_named = false; ///< See is_named(). Else the frontend has the address.
    bool takes_ipv4 = false;
    std::vector<unique_fd> fds;
};

/// take_sockets takes each frontend's out of `passed`: those that are named for it, and of the
/// others those with one of its addresses. The sockets of no frontend are left.
[[nodiscard]] std::vector<std::vector<address_group>> take_sockets(
    std::span<frontend_plan const> frontends, std::vector<passed_socket>& passed);

} // namespace cleat::app
