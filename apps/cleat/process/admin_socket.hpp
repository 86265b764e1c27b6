// admin_socket: the listening socket of the admin server.

#pragma once

#include "config/address.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_file.hpp>
#include <cleat/net/socket_options.hpp>

#include <functional>
#include <string>

namespace cleat::app {

/// admin_socket listens from its construction on. The file of a UNIX socket is removed by close.
class admin_socket
{
public:
    /// bind_denied is listen_options's.
    using binder = std::function<error_code(int fd, net::address const& address)>;

    /// open binds and listens. A UNIX socket has mode 0600 from its beginning; a file of that name
    /// that no process listens on is replaced. address_in_use: another process listens there.
    /// file_exists: the file is no socket. Any other error is the system's. `where` is set.
    [[nodiscard]] static result<admin_socket> open(
        admin_address const& where, binder const& bind_denied = {});

    /// obstacle is the error that open would give, as far as that can be found out without making a
    /// file or binding a port. A process that listens there is no obstacle.
    [[nodiscard]] static error_code obstacle(admin_address const& where);

    admin_socket(admin_socket&& other) noexcept = default;
    admin_socket& operator=(admin_socket&&) = delete;
    ~admin_socket() { close(); }

    [[nodiscard]] int native_handle() const noexcept { return fd_.get(); }

    /// address is where it listens, with the port that the kernel chose for port 0.
    [[nodiscard]] net::address const& address() const noexcept { return address_; }

    /// is_in_place: the file of a UNIX socket is still the one that open has made. A client that
    /// connects after the file's removal does not come here. Always true of a TCP port.
    [[nodiscard]] bool is_in_place() const noexcept { return file_.is_in_place(); }

    /// close gives up the address, and removes the file unless another process has replaced it.
    void close() noexcept;

private:
    admin_socket() = default;

    [[nodiscard]] error_code open_unix(std::string const& path);
    [[nodiscard]] error_code open_tcp(host_port const& where, binder const& bind_denied);

    unique_fd fd_;
    net::address address_;
    net::socket_file file_; // None of a TCP port.
};

} // namespace cleat::app
