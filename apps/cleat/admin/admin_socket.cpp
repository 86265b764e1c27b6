#include "admin/admin_socket.hpp"

#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <cerrno>
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

unique_fd new_unix_socket()
{
    return unique_fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

// No error: there is no such file, or one that no process listens on.
error_code occupant(std::string const& path, net::address const& address, bool& exists)
{
    struct stat about
    {
    };
    exists = ::lstat(path.c_str(), &about) == 0;
    if (!exists)
        return errno == ENOENT ? error_code{} : last_system_error();
    if (!S_ISSOCK(about.st_mode))
        return make_error_code(boost::system::errc::file_exists);
    unique_fd const probe = new_unix_socket();
    if (!probe)
        return last_system_error();
    if (::connect(probe.get(), address.data(), address.size) == 0 || errno == EAGAIN)
        return make_error_code(boost::system::errc::address_in_use);
    return errno == ECONNREFUSED ? error_code{} : last_system_error();
}

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
    bool exists = false;
    if (error_code const ec = occupant(path, *address, exists))
        return ec;
    unique_fd fd = new_unix_socket();
    // Linux makes the file with the mode of the socket, less the umask: no other user can connect
    // before a later chmod(2).
    if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0)
        return last_system_error();
    if (exists && ::unlink(path.c_str()) != 0)
        return last_system_error();
    if (::bind(fd.get(), address->data(), address->size) != 0)
        return last_system_error();
    struct stat about
    {
    };
    if (::lstat(path.c_str(), &about) != 0)
        return last_system_error();
    path_ = path; // From here on the destructor removes it.
    device_ = about.st_dev;
    inode_ = about.st_ino;
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
    result<net::address> const address = net::unix_address(path->path);
    if (!address)
        return address.error();
    std::filesystem::path const folder = std::filesystem::path{path->path}.parent_path();
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return last_system_error();
    bool exists = false;
    error_code const ec = occupant(path->path, *address, exists);
    return ec == boost::system::errc::address_in_use ? error_code{} : ec;
}

admin_socket::admin_socket(admin_socket&& other) noexcept
    : fd_{std::move(other.fd_)}
    , address_{other.address_}
    , path_{std::exchange(other.path_, {})}
    , device_{other.device_}
    , inode_{other.inode_}
{
}

void admin_socket::close() noexcept
{
    struct stat about
    {
    };
    if (!path_.empty() && ::lstat(path_.c_str(), &about) == 0 && about.st_dev == device_ &&
        about.st_ino == inode_)
        static_cast<void>(::unlink(path_.c_str()) == 0);
    path_.clear();
    fd_.reset();
}

} // namespace cleat::app
