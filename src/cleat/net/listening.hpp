// listening: the sockets that a server's workers accept on, made before any of them starts. Not a
// public header.

#pragma once

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::net {

/// listen_text is what server_spec::listen says: a host and a port.
struct listen_text
{
    std::string host; ///< Without brackets; "*" for every address.
    std::string port;
};

/// parse_listen throws std::invalid_argument, which says what is wrong with the text.
[[nodiscard]] listen_text parse_listen(std::string const& text);

/// listening is what every worker listens on: a socket for each address.
struct listening
{
    std::vector<address> at;                       ///< All with the same port.
    std::vector<std::vector<unique_fd>> by_worker; ///< In the order of `at`.
};

/// listen_on_all listens on every address of the text that this machine has, for so many workers.
/// Throws std::invalid_argument for the text, std::system_error for the addresses: address_in_use
/// also where another server would share the port.
[[nodiscard]] listening listen_on_all(
    std::string const& text, listen_options const& options, std::size_t workers);

} // namespace cleat::net
