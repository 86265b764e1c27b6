// socket_file: the file of a UNIX socket that listens: its removal, and whose it is. Not a public
// header.

#pragma once

#include <cleat/core/error.hpp>

#include <string>

#include <sys/types.h>

namespace cleat::net {

/// socket_file is a file that a bind(2) of this process has made. The destructor removes it, unless
/// another process has replaced it.
///
/// Remove it before the socket is closed: until then no other process takes the socket for an
/// abandoned one, and the kernel gives the inode's number to no other file.
class socket_file
{
public:
    socket_file() noexcept = default; ///< No file.
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file() { remove(); }

    /// made_at takes charge of the file at `path`, right after the bind that has made it.
    [[nodiscard]] static result<socket_file> made_at(std::string path);

    /// is_in_place: the file has neither been removed nor replaced. True where there is no file.
    [[nodiscard]] bool is_in_place() const noexcept;

    void remove() noexcept;

private:
    std::string path_; // Empty: there is no file to remove.
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

/// socket_path_obstacle is why no UNIX socket can be bound at a path, as far as a file there is the
/// reason. address_in_use: a process listens on it. file_exists: the file is no socket. No error:
/// there is no file, or one on which no process listens, which free_socket_path removes.
[[nodiscard]] error_code socket_path_obstacle(std::string const& path);

/// free_socket_path removes the file of a socket on which no process listens any more. An error is
/// socket_path_obstacle's, or unlink(2)'s.
[[nodiscard]] error_code free_socket_path(std::string const& path);

} // namespace cleat::net
