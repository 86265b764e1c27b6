#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_file.hpp>
#include <cleat/net/socket_options.hpp>

#include <boost/system/errc.hpp>

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::net {
socket_file::socket_file(socket_file&& other) noexcept
    : path_{std::exchange(other.path_, {})}, device_{other.device_}, inode_{other.inode_}
{
}

socket_file& socket_file::operator=(socket_file&& other) noexcept
{
    if (this != &other) {
        remove();
        path_ = std::exchange(other.path_, {});
        device_ = other.device_;
        inode_ = other.inode_;
    }
    return *this;
}

result<socket_file> socket_file::made_at(std::string path)
{
    struct stat about
    {
    };
    if (::lstat(path.c_str(), &about) != 0)
        return last_system_error();
    socket_file made;
    made.path_ = std::move(path);
    made.device_ = about.st_dev;
    made.inode_ = about.st_ino;
    return made;
}

bool socket_file::is_in_place() const noexcept
{
    struct stat about
    {
    };
    return path_.empty() || (::lstat(path_.c_str(), &about) == 0 && about.st_dev == device_ &&
                             about.st_ino == inode_);
}

void socket_file::remove() noexcept
{
    if (!path_.empty() && is_in_place())
        static_cast<void>(::unlink(path_.c_str()) == 0);
    path_.clear();
}

error_code socket_path_obstacle(std::string const& path)
{
    result<address> const place = unix_address(path);
    if (!place)
        return place.error();
    struct stat about
    {
    };
    if (::lstat(path.c_str(), &about) != 0)
        return errno == ENOENT ? error_code{} : last_system_error();
    if (!S_ISSOCK(about.st_mode))
        return make_error_code(boost::system::errc::file_exists);
    unique_fd const probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!probe)
        return last_system_error();
    // EAGAIN: a process listens, and its queue is full.
    if (::connect(probe.get(), place->data(), place->size) == 0 || errno == EAGAIN)
        return make_error_code(boost::system::errc::address_in_use);
    return errno == ECONNREFUSED ? error_code{} : last_system_error();
}

error_code free_socket_path(std::string const& path)
{
    if (error_code const ec = socket_path_obstacle(path))
        return ec;
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? error_code{} : last_system_error();
}

} // namespace cleat::net
