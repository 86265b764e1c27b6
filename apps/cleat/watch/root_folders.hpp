// root_folders: what another process, which has root's rights, does in folders that this one may
// not read.

#pragma once

#include <cleat/core/error.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// folder_entry is one name in a folder. A link is a folder where it leads to one.
struct folder_entry
{
    std::string name;
    bool is_folder = false;
    bool is_link = false;
};

/// watched_place is a folder that is watched, and the name in it on which it depends where a path
/// leads: a link's, the last one, or the first one that is missing.
struct watched_place
{
    int watch = 0;      ///< As inotify_add_watch(2) numbers it.
    std::string name{}; ///< Empty: the path is the folder's own, and all names count.
};

/// root_folders has no functions where there is no such process. They may be called by any thread,
/// and take an absolute path in the configuration's own words.
struct root_folders
{
    /// watch watches the places of a path by an inotify(7) descriptor of this process, for
    /// watched_events. To ask again changes nothing: the answer shows where the path leads now.
    std::function<result<std::vector<watched_place>>(int inotify, std::string const& path)> watch{};

    /// list is what is in a folder; nothing where it is refused.
    std::function<std::optional<std::vector<folder_entry>>(std::string const& folder)> list{};
};

} // namespace cleat::app
