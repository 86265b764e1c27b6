// socket_options: addresses, and the options of listening sockets and their connections.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

namespace cleat::net {

/// address is a socket address of any family, as the kernel takes and gives it.
struct address
{
    /// The address is the first `size` bytes of `storage`.
    sockaddr_storage storage{};
    socklen_t size = 0;

    /// data, family: the address as bind(2) and its like take it, and AF_INET or another family.
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

/// unix_address of a path; an error for a path that does not fit: at most 107 bytes on Linux.
[[nodiscard]] result<address> unix_address(std::string const& path);

/// port_of a text: 0 to 65535, digits only; nothing for any other text.
[[nodiscard]] std::optional<std::uint16_t> port_of(std::string_view text) noexcept;

/// resolve finds the addresses of a host (a name or a literal; empty or "*": any address) and a
/// port, a number. It may block: for use before serving.
[[nodiscard]] result<std::vector<address>> resolve(
    std::string const& host, std::string const& port);

/// listen_options are the options of a listening socket. Its connections inherit them, so they are
/// set once and not for each connection.
struct listen_options
{
    int backlog = 1024; ///< The kernel caps it at net.core.somaxconn.
    /// Wake up for a connection when its first bytes have come: a ClientHello or a PROXY header
    /// (TCP_DEFER_ACCEPT).
    bool defer_accept = true;
    bool reuse_port = true;            ///< Every worker has a socket of its own on the port.
    std::optional<int> receive_buffer; ///< SO_RCVBUF in bytes; unset: the kernel's own tuning.
    std::optional<int> send_buffer;    ///< SO_SNDBUF in bytes; unset: the kernel's own tuning.
    std::optional<std::chrono::seconds> keepalive; ///< Idle time before TCP asks; unset: never.
    /// Take data with a client's SYN (TCP_FASTOPEN, RFC 7413), on this many connections at a time
    /// whose handshake of TCP has not ended. 0: take none.
    int fast_open = 0;
    /// Binds the socket where this process may not: another process may. Empty: there is none.
    std::function<error_code(int fd, address const& a)> bind_denied;
};

/// listen_on binds and listens. IPv6 sockets take IPv6 only, so that [::] and 0.0.0.0 can share a
/// port.
[[nodiscard]] result<unique_fd> listen_on(address const& a, listen_options const& options);

/// adopt_listening gives a TCP socket that somebody else has bound, and that listens, the options
/// of listen_on, and makes it non-blocking; its address and reuse_port stay.
[[nodiscard]] error_code adopt_listening(int fd, listen_options const& options) noexcept;

/// change_listen_options gives a listening TCP socket another backlog, defer_accept, keepalive and
/// buffers; its later connections inherit them. A buffer that is unset stays as it is: the kernel
/// cannot take back its own tuning.
[[nodiscard]] error_code change_listen_options(int fd, listen_options const& options) noexcept;

/// local_address of a socket: has the port that the kernel chose for port 0.
[[nodiscard]] result<address> local_address(int fd);

/// acknowledge_now sends the acknowledgment that the kernel delays, if there is one (TCP_QUICKACK,
/// tcp(7)). Does nothing on sockets other than TCP's.
void acknowledge_now(int fd) noexcept;

/// reset_on_close: the close that follows sends RST instead of FIN, and leaves no TIME_WAIT behind
/// (SO_LINGER, socket(7)).
void reset_on_close(int fd) noexcept;

/// bound_unsent makes a socket full once it holds so many bytes that were not sent, because the
/// receiver or the network takes no more (TCP_NOTSENT_LOWAT, tcp(7)). Bytes that are on their way
/// do not count. 0: the system's default. Does nothing on sockets other than TCP's.
void bound_unsent(int fd, std::size_t bytes) noexcept;

/// set_no_delay turns Nagle's algorithm off. Does nothing on sockets other than TCP's.
void set_no_delay(int fd) noexcept;

} // namespace cleat::net
