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

/// refused_address is one that could not be listened on, and why.
struct refused_address
{
    address at;
    error_code why;
};

/// listening_attempt is what came of listening: good only if nothing was refused.
struct listening_attempt
{
    listening made;
    std::vector<refused_address> refused;
};

/// listen_on_each listens on every one of a name's addresses, each once, for so many workers. One
/// that is not this machine's is refused only where none is, and port 0 becomes one port for all.
/// address_in_use also where another server would share the port.
[[nodiscard]] listening_attempt listen_on_each(
    std::vector<address> const& name, listen_options const& options, std::size_t workers);

/// listen_nowhere is what listen_on_each would refuse because this machine has none of a name's
/// addresses. No port is taken to find out: who listens already is not disturbed, nor in the way.
[[nodiscard]] std::vector<refused_address> listen_nowhere(std::vector<address> const& name);

/// listen_on_all listens on every address of the text that this machine has, for so many workers.
/// Throws std::invalid_argument for the text, std::system_error for the addresses.
[[nodiscard]] listening listen_on_all(
    std::string const& text, listen_options const& options, std::size_t workers);

} // namespace cleat::net
