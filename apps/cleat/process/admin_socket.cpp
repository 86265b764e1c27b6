#include "process/admin_socket.hpp"

#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr int backlog = 64;

error_code obstacle_to_tcp(host_port const& where)
{
    result<std::vector<net::address>> const found =
        net::resolve(where.host, fmt::to_string(where.port));
    if (!found)
        return found.error();
    // Only the first address is listened on.
    std::vector<net::refused_address> const refused = net::listen_nowhere({found->front()});
    return refused.empty() ? error_code{} : refused.front().reason;
}

} // namespace

result<admin_socket> admin_socket::open(admin_address const& where, binder const& bind_denied)
{
    admin_socket made;
    unix_path const* const path = std::get_if<unix_path>(&where);
    error_code const ec = path != nullptr ? made.open_unix(path->path)
                                          : made.open_tcp(std::get<host_port>(where), bind_denied);
    if (ec)
        return ec;
    return made;
}

error_code admin_socket::open_unix(std::string const& path)
{
    result<net::address> const address = net::unix_address(path);
    if (!address)
        return address.error();
    if (error_code const ec = net::free_socket_path(path))
        return ec;
    unique_fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    // Linux makes the file with the mode of the socket, less the umask: no other user can connect
    // before a later chmod(2).
    if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0)
        return last_system_error();
    if (::bind(fd.get(), address->data(), address->size) != 0)
        return last_system_error();
    result<net::socket_file> file = net::socket_file::made_at(path);
    if (!file)
        return file.error();
    file_ = std::move(*file);
    if (::listen(fd.get(), backlog) != 0)
        return last_system_error();
    fd_ = std::move(fd);
    address_ = *address;
    return {};
}

error_code admin_socket::open_tcp(host_port const& where, binder const& bind_denied)
{
    result<std::vector<net::address>> const found =
        net::resolve(where.host, fmt::to_string(where.port));
    if (!found)
        return found.error();
    // A socket that shares its port would get only some of the connections.
    net::listen_options options;
    options.backlog = backlog;
    options.defer_accept = false;
    options.reuse_port = false;
    options.bind_denied = bind_denied;
    result<unique_fd> fd = net::listen_on(found->front(), options);
    if (!fd)
        return fd.error();
    result<net::address> const address = net::local_address(fd->get());
    if (!address)
        return address.error();
    fd_ = std::move(*fd);
    address_ = *address;
    return {};
}

error_code admin_socket::obstacle(admin_address const& where)
{
    if (host_port const* const place = std::get_if<host_port>(&where))
        return obstacle_to_tcp(*place);
    unix_path const* const path = std::get_if<unix_path>(&where);
    if (path == nullptr)
        return {};
    std::filesystem::path const folder = std::filesystem::path{path->path}.parent_path();
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return last_system_error();
    error_code const ec = net::socket_path_obstacle(path->path);
    return ec == boost::system::errc::address_in_use ? error_code{} : ec;
}

void admin_socket::close() noexcept
{
    file_.remove();
    fd_.reset();
}

} // namespace cleat::app
