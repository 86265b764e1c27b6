// passed_sockets: the listening sockets that a service manager has opened for this process
// (sd_listen_fds(3), systemd.socket(5)).

#pragma once

#include "config/config.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

/// passed_socket is one of them: a TCP socket that listens.
struct passed_socket
{
    unique_fd fd;
    std::string name; ///< FileDescriptorName= of its unit. Empty: none was passed.
    net::address address;
    bool takes_ipv4 = false; ///< An IPv6 socket for any address, which takes IPv4 as well.
};

/// passed_sockets is all of them, or errors.
struct passed_sockets
{
    std::vector<passed_socket> sockets;
    std::vector<problem> problems;
};

/// listen_variables is LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES; unset ones have no value.
struct listen_variables
{
    std::optional<std::string> pid{};
    std::optional<std::string> fds{};
    std::optional<std::string> names{};
};

/// passed_names is the name of each descriptor that is passed to a process, from the number 3 on.
struct passed_names
{
    std::vector<std::string> names;
    std::string fault; ///< The variables contradict each other, or are no numbers.
};

/// names_in reads the variables. Variables for another process count as unset.
[[nodiscard]] passed_names names_in(listen_variables const& variables, pid_t process);

/// take_passed_sockets takes them once: it removes the variables from the environment. Call it
/// before the process forks. A descriptor that is no listening TCP socket is an error.
[[nodiscard]] passed_sockets take_passed_sockets();

/// look_at checks one descriptor: its socket, or why that cannot serve.
[[nodiscard]] std::optional<passed_socket> look_at(unique_fd fd, std::string name);

/// spelled writes the socket for a message: "127.0.0.1:443 (descriptor 3, named web)".
[[nodiscard]] std::string spelled(passed_socket const& socket);

} // namespace cleat::app
