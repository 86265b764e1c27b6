// listening_place: an address that the workers listen on.

#pragma once

#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// listening_place is one address of a frontend.
struct listening_place
{
    std::size_t frontend = 0; ///< Its number in snapshot::frontends.
    net::address address;     ///< With the port that the kernel chose for port 0.
    std::string wanted;       ///< The address as the configuration has it: port 0 stays 0.
    /// At a reload: the place of the configuration before with the same address. The workers listen
    /// there already.
    std::optional<std::size_t> kept{};
};

/// bound_sockets is every listening socket: for each worker, one for each place.
struct bound_sockets
{
    std::vector<listening_place> places;
    std::vector<std::vector<unique_fd>> by_worker; ///< In the order of places; empty where kept.
    std::vector<problem> problems;                 ///< Errors: nothing is to be started.
};

/// bind_all binds a socket for each worker and address, except where it is one of the `running`
/// ones. Ports below 1024 need the rights that drop_privileges gives up.
[[nodiscard]] bound_sockets bind_all(
    snapshot const& configuration, std::size_t workers,
    std::span<listening_place const> running = {});

/// check_addresses appends the errors that bind_all would report for addresses that this machine
/// does not have. It takes no port, so that a running cleat with the same ports is no obstacle.
void check_addresses(snapshot const& configuration, std::vector<problem>& problems);

} // namespace cleat::app
