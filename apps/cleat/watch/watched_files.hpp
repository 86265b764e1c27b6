// watched_files: the files whose change makes a configuration out of date, and the folders where
// such a change is seen.

#pragma once

#include "config/config.hpp"
#include "watch/root_folders.hpp"

#include <cleat/core/error.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

class file_watch;

/// watched_folder is what matters in one folder: some names, or all of them.
struct watched_folder
{
    std::set<std::string> names;
    bool all = false;
    bool is_partial = false; ///< The folder could not be read: folders and links in it are missing.
    std::set<std::string> ways{}; ///< Absolute paths of the configuration that need the names.
    std::string way{};            ///< Where all names matter: the folder's own such path.
};

/// watched_files is by the folder's absolute path. A folder may be missing.
using watched_files = std::map<std::string, watched_folder>;

/// watch_plan is files that are watched since a moment before they were read: a file that changes
/// meanwhile is noticed, too.
struct watch_plan
{
    watched_files files{};
    std::shared_ptr<file_watch> watch{}; ///< Null: nothing watches the files yet.
    error_code unwatched{};              ///< Why the kernel does not watch them.
    std::vector<std::string> pem_dirs{}; ///< Their real paths, in the settings' order.
    bool has_links = false; ///< A file in a pem-dir is a link, or was reached over one.
};

/// file_changes are the files of a watch plan that have changed since its configuration was made.
struct file_changes
{
    bool is_complete = false;           ///< Else more may have changed.
    bool elsewhere = false;             ///< A file that is watched by its name has changed.
    std::set<std::string> in_folders{}; ///< Paths in folders of which all names matter.

    [[nodiscard]] bool any() const noexcept
    {
        return !is_complete || !in_folders.empty() || elsewhere;
    }
    void add(file_changes const& more);
};

/// find_files finds the configuration file, certificates, keys, OCSP responses, authorities
/// and the folders of pem-dir. A name that leads over symbolic links is watched at each of them:
/// Kubernetes changes a link in the middle, certbot the last one. `root` lists the folders that
/// this process may not read; it may be empty.
[[nodiscard]] watch_plan find_files(config const& settings, root_folders const& root = {});

/// folder_status is a hash of what changes when one of the watched files in a folder is replaced,
/// written, made or removed. Of a folder that this process may not read there is none.
using folder_status = std::optional<std::size_t>;

/// statuses_of the folders of the files, in their order.
[[nodiscard]] std::vector<folder_status> statuses_of(watched_files const& files);

/// folder_identity is which folder is at a path.
struct folder_identity
{
    dev_t device = 0;
    ino_t number = 0;
    int error = 0; ///< An errno; 0: there is one.

    friend bool operator==(folder_identity const&, folder_identity const&) = default;
};

/// identities_of the folders of the files, in their order: one changes when its folder goes, comes,
/// or is replaced by another, also where a folder above it is renamed.
[[nodiscard]] std::vector<folder_identity> identities_of(watched_files const& files);

/// add_files adds all of `more`.
void add_files(watched_files& files, watched_files const& more);

/// add_path adds one file, with the links that lead to it.
void add_path(watched_files& files, std::string const& path);

/// is_closed: this process may not read the folder, or may not reach it.
[[nodiscard]] bool is_closed(std::string const& folder) noexcept;

} // namespace cleat::app
