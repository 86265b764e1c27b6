// socket_options: what a listening socket and the connections on it are set to.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

namespace cleat::net {

/// address is a socket address of any family, as the kernel takes and gives it.
struct address
{
    sockaddr_storage storage{};
    socklen_t size = 0;

    [[nodiscard]] sockaddr const* data() const noexcept
    {
        return reinterpret_cast<sockaddr const*>(&storage);
    }
    [[nodiscard]] int family() const noexcept { return storage.ss_family; }
    /// port in host order; 0 for families without ports.
    [[nodiscard]] unsigned port() const noexcept;
};

/// to_string spells an address as logs and configuration do: 127.0.0.1:443, [::1]:443, unix:/path.
[[nodiscard]] std::string to_string(address const& a);

/// unix_address of a path; an error when the path does not fit (108 bytes on Linux).
[[nodiscard]] result<address> unix_address(std::string const& path);

/// port_of a text: 0 to 65535, digits only; anything else is none.
[[nodiscard]] std::optional<std::uint16_t> port_of(std::string_view text) noexcept;

/// resolve finds the addresses of a host (a name or a literal; empty or "*": any address) and a
/// port, a number. It may block: for use before serving.
[[nodiscard]] result<std::vector<address>> resolve(
    std::string const& host, std::string const& port);

/// listen_options: each connection inherits what its listening socket was set to, so it is set once
/// here and not once for each connection.
struct listen_options
{
    int backlog = 1024;                ///< The kernel caps it at net.core.somaxconn.
    bool defer_accept = true;          ///< Wake up for a connection when its ClientHello is there.
    bool reuse_port = true;            ///< Every worker has a socket of its own on the port.
    std::optional<int> receive_buffer; ///< SO_RCVBUF in bytes; unset: the kernel's own tuning.
    std::optional<int> send_buffer;    ///< SO_SNDBUF in bytes; unset: the kernel's own tuning.
    std::optional<std::chrono::seconds> keepalive; ///< Idle time before TCP asks; unset: never.
};

/// listen_on binds and listens. IPv6 sockets take IPv6 only, so that [::] and 0.0.0.0 can both be
/// had.
[[nodiscard]] result<unique_fd> listen_on(address const& at, listen_options const& options);

/// local_address of a socket: the port that a bind to port 0 was given.
[[nodiscard]] result<address> local_address(int fd);

/// acknowledge_now sends the acknowledgment that the kernel still delays, if there is one
/// (TCP_QUICKACK, tcp(7)). Of a TCP socket; another's has none.
void acknowledge_now(int fd) noexcept;

/// set_no_delay turns Nagle's algorithm off; what fails has no such algorithm.
void set_no_delay(int fd) noexcept;

} // namespace cleat::net
