// listening_place: an address that the workers listen on.

#pragma once

#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::app {

/// listening_place is one address of a frontend.
struct listening_place
{
    std::size_t frontend = 0; ///< Its number in snapshot::frontends.
    net::address address;     ///< With the port that the kernel chose for port 0.
};

/// bound_sockets is every listening socket: for each worker, one for each place.
struct bound_sockets
{
    std::vector<listening_place> places;
    std::vector<std::vector<unique_fd>> by_worker; ///< In the order of places.
    std::vector<problem> problems;                 ///< Errors: nothing is to be started.
};

/// bind_all binds a socket for each worker and address. Call it before privileges are dropped,
/// because ports below 1024 need them.
[[nodiscard]] bound_sockets bind_all(snapshot const& configuration, std::size_t workers);

/// check_addresses appends the errors that bind_all would report for addresses that this machine
/// does not have. It takes no port, so that a running cleat with the same ports is no obstacle.
void check_addresses(snapshot const& configuration, std::vector<problem>& problems);

} // namespace cleat::app
