// listening: the listening sockets of all workers, made before a worker starts. Not a public
// header.

#pragma once

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_file.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::net {

/// listen_text is server_spec::listen in its parts: a host and a port.
struct listen_text
{
    std::string host; ///< Without brackets; "*" for every address.
    std::string port;
};

/// parse_listen throws std::invalid_argument, with the reason, for a text that is not valid.
[[nodiscard]] listen_text parse_listen(std::string const& text);

/// listening is the listening sockets of all workers: each worker has one for each address.
struct listening
{
    std::vector<address> addresses;              ///< All with the same port.
    std::vector<std::vector<unique_fd>> sockets; ///< For each worker, in the order of addresses.
    socket_file file{};                          ///< Of a UNIX socket that was bound here.
};

/// refused_address is an address that could not be listened on, and why.
struct refused_address
{
    net::address address;
    error_code reason;
};

/// listening_attempt is the outcome of listen_on_each: complete only if nothing was refused.
struct listening_attempt
{
    listening opened;
    std::vector<refused_address> refused;
};

/// listen_on_each makes a socket for each worker and each address of one name. It leaves out the
/// addresses of other machines, and refuses them only if no address is this machine's. Port 0
/// becomes one free port for all sockets. A port of another server is address_in_use, also where
/// that server would share it (SO_REUSEPORT).
[[nodiscard]] listening_attempt listen_on_each(
    std::vector<address> const& addresses, listen_options const& options, std::size_t workers);

/// listen_nowhere returns the addresses that listen_on_each would refuse because this machine has
/// none of a name's addresses. It binds no port, so it neither fails because of a server that
/// listens there already, nor disturbs it.
[[nodiscard]] std::vector<refused_address> listen_nowhere(std::vector<address> const& addresses);

/// listen_on_all makes the sockets that the text (server_spec::listen) describes. A UNIX socket and
/// a descriptor are one listening socket, of which each worker gets a duplicate. Throws
/// std::invalid_argument for a text that is none of the forms, std::system_error for a refused
/// address, path or descriptor.
[[nodiscard]] listening listen_on_all(
    std::string const& text, listen_options const& options, std::size_t workers);

} // namespace cleat::net
