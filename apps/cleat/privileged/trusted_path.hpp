// trusted_path: opens a file whose path nobody but root can change.
//
// The path is walked folder by folder, each opened by the descriptor of the one before. Each folder
// and each symbolic link on the way belongs to root, and no other user may write to the folders. So
// no other user can have made a link, or can exchange a part of the path between a check and its
// use.

#pragma once

#include <cleat/core/file_opener.hpp>
#include <cleat/core/unique_fd.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace cleat::app {

/// trusted_paths opens paths that begin at one folder: the file system's root, except in tests.
class trusted_paths
{
public:
    /// root is a descriptor of that folder. `owner` is the user whose folders and links are
    /// trusted.
    explicit trusted_paths(unique_fd root, uid_t owner = 0) noexcept
        : root_{std::move(root)}, owner_{owner}
    {
    }

    /// open_file opens a regular file for reading. The file itself may belong to any user: who may
    /// change its content is root's choice. Links are followed; but of the last names_below names
    /// only the last may be one.
    [[nodiscard]] file_opening open_file(
        std::string const& path, std::size_t names_below = 0) const;

    /// open_own_file is open_file for a file that belongs to the owner, and that no other user may
    /// write to.
    [[nodiscard]] file_opening open_own_file(std::string const& path) const;

    /// open_folder opens a folder for listing. Links are followed; but none of the last names_below
    /// names may be one.
    [[nodiscard]] file_opening open_folder(
        std::string const& path, std::size_t names_below = 0) const;

    /// visitor gets a folder on the way, by a descriptor that is closed after the call, and the
    /// name in it on which it depends where the path leads. An error ends the walk.
    using visitor = std::function<error_code(int folder, std::string const& name)>;

    /// follow visits the folder of each link on the way, and of the file at its end, which may be
    /// missing, as may a folder before it. A folder at the end is visited itself, without a name;
    /// `is_folder` is as for open_folder, and without it such an end is an error. The opening
    /// has no descriptor, and no reason where all are visited.
    [[nodiscard]] file_opening follow(
        std::string const& path, std::size_t names_below, bool is_folder,
        visitor const& visit) const;

    /// open_log opens a file for appending as log_sink::to_file does, and makes it if it does not
    /// exist. Links are followed on the way, but not at the end.
    [[nodiscard]] file_opening open_log(std::string const& path) const;

private:
    unique_fd root_;
    uid_t owner_;
};

} // namespace cleat::app
