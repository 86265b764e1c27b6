// watched_files: the files whose change makes a configuration out of date, and the folders where
// such a change is seen.

#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

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
    std::size_t status = 0; ///< status_of the files.
};

/// find_watched_files finds the configuration file, certificates, keys, OCSP responses, authorities
/// and the folders of pem-dir. A name that leads over symbolic links is watched at each of them:
/// Kubernetes changes a link in the middle, certbot the last one.
[[nodiscard]] watched_files find_watched_files(config const& settings);

/// status_of is a hash of what changes when one of the files is replaced, written, made or removed.
[[nodiscard]] std::size_t status_of(watched_files const& files);

/// add_files adds all of `more`.
void add_files(watched_files& files, watched_files const& more);

/// add_path adds one file, with the links that lead to it.
void add_path(watched_files& files, std::string const& path);

} // namespace cleat::app
