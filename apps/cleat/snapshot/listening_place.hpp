// listening_place: an address that the workers listen on.

#pragma once

#include "activation/passed_sockets.hpp"
#include "privileged/opener.hpp"
#include "snapshot/snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// passed_place is how a service manager has passed the sockets of a place. The service manager
/// keeps them open, too.
struct passed_place
{
    std::string named_for;   ///< The frontend that the sockets' names say; empty: found by address.
    bool takes_ipv4 = false; ///< See passed_socket.
};

/// listening_place is one address of a frontend.
struct listening_place
{
    std::size_t frontend = 0; ///< Its number in snapshot::frontends.
    net::address address;     ///< With the port that the kernel chose for port 0.
    std::string wanted;       ///< The address as the configuration has it: port 0 stays 0.
    /// At a reload: the place of the configuration before with the same address. The workers listen
    /// there already.
    std::optional<std::size_t> kept{};
    std::optional<passed_place> passed{}; ///< Unset: cleat has opened the sockets itself.
};

/// bound_sockets is every listening socket: for each worker, one for each place.
struct bound_sockets
{
    std::vector<listening_place> places;
    std::vector<std::vector<unique_fd>> by_worker; ///< In the order of places; empty where kept.
    std::vector<problem> problems;                 ///< Errors: nothing is to be started.
};

/// bind_all binds a socket for each worker and address, except for the addresses of the `running`
/// places. Ports below 1024 need the rights that drop_privileges gives up: after that, root_ports
/// binds them.
///
/// A place for which `passed` has sockets is not bound. Each worker gets one of them; where there
/// are fewer, workers share a socket. A passed socket of no frontend is an error. At a reload it is
/// also an error if a running place has passed sockets and no frontend has it any more.
[[nodiscard]] bound_sockets bind_all(
    snapshot const& configuration, std::size_t workers,
    std::span<listening_place const> running = {}, opener const& root_ports = {},
    std::vector<passed_socket> passed = {});

/// check_addresses appends the errors that bind_all would report for addresses that this machine
/// does not have. It binds no port of the configuration, so a running cleat may have the same
/// ports.
void check_addresses(snapshot const& configuration, std::vector<problem>& problems);

} // namespace cleat::app
