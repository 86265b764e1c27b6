// watched_files: the files whose change makes a configuration out of date, and the folders where
// such a change is seen.

#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cleat::app {

/// watched_folder is what matters in one folder: some names, or all of them.
struct watched_folder
{
    std::set<std::string> names;
    bool all = false;
};

/// watched_files is by the folder's absolute path. A folder may be missing.
using watched_files = std::map<std::string, watched_folder>;

/// watch_plan is files with their status at a moment before they were read: a file that changes
/// meanwhile is noticed, too.
struct watch_plan
{
    watched_files files{};
    std::size_t status = 0;              ///< status_of the files.
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

/// plan_watching finds the configuration file, certificates, keys, OCSP responses, authorities
/// and the folders of pem-dir. A name that leads over symbolic links is watched at each of them:
/// Kubernetes changes a link in the middle, certbot the last one.
[[nodiscard]] watch_plan plan_watching(config const& settings);

/// find_files is the plan without the files' status.
[[nodiscard]] watch_plan find_files(config const& settings);

/// status_of is a hash of what changes when one of the files is replaced, written, made or removed.
[[nodiscard]] std::size_t status_of(watched_files const& files);

/// identity_of is a hash of which folders are at the paths of the files: it changes when one goes,
/// comes, or is replaced by another, also where a folder above it is renamed.
[[nodiscard]] std::size_t identity_of(watched_files const& files);

/// add_files adds all of `more`.
void add_files(watched_files& files, watched_files const& more);

/// add_path adds one file, with the links that lead to it.
void add_path(watched_files& files, std::string const& path);

} // namespace cleat::app
