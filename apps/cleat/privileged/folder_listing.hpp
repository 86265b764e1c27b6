// folder_listing: what is in a folder, also in one that only root may read.

#pragma once

#include "privileged/opener.hpp"
#include "watch/root_folders.hpp"

#include <string>
#include <vector>

namespace cleat::app {

/// folder_listing is everything in a folder but "." and "..", in no order.
struct folder_listing
{
    std::vector<folder_entry> entries{};
    std::string fault{}; ///< Why the folder could not be read; empty where it could.
};

/// list_folder asks `files` about what this process may not see.
[[nodiscard]] folder_listing list_folder(std::string const& path, opener const& files);

/// root_folders_of the process, which has to outlive them; empty where there is no process.
[[nodiscard]] root_folders root_folders_of(opener const& files);

} // namespace cleat::app
