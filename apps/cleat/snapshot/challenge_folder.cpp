#include "privileged/permissions.hpp"
#include "snapshot/challenge_folder.hpp"

#include <cleat/core/file_opener.hpp>

#include <fmt/format.h>

#include <filesystem>

#include <fcntl.h>

namespace cleat::app {

std::string find_challenge_folder(
    config const& settings, problem_list& problems, opener const& root_files)
{
    setting<std::string> const& folder = settings.acme_challenges;
    if (folder->empty())
        return {};
    file_opening const opened =
        open_or_ask(*folder, O_PATH | O_DIRECTORY | O_CLOEXEC, root_files.for_folders());
    if (opened.reason)
        problems.error(
            folder.location, "acme-challenges",
            fmt::format("cannot open the folder {}: {}", *folder, to_string(opened)),
            "Make the folder, and let the user that cleat runs as search and read it.");
    return absolute_path(std::filesystem::current_path().string(), *folder);
}

} // namespace cleat::app
