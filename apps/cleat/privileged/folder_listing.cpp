#include "privileged/folder_listing.hpp"

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace cleat::app {
namespace {

struct close_folder
{
    void operator()(DIR* folder) const noexcept { static_cast<void>(::closedir(folder)); }
};

// The name's own kind, and then the kind of what it leads to.
folder_entry entry_for(
    DIR* folder, dirent const& found, std::string const& path, opener const& files)
{
    folder_entry made{.name = static_cast<char const*>(found.d_name)};
    made.is_folder = found.d_type == DT_DIR;
    made.is_link = found.d_type == DT_LNK;
    if (found.d_type != DT_LNK && found.d_type != DT_UNKNOWN)
        return made;
    struct stat facts = {};
    int const fd = ::dirfd(folder);
    if (::fstatat(fd, made.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
        made.is_link = S_ISLNK(facts.st_mode);
    if (::fstatat(fd, made.name.c_str(), &facts, 0) == 0)
        made.is_folder = S_ISDIR(facts.st_mode);
    else if (is_denied(last_system_error()))
        made.is_folder =
            files.open_file(path + '/' + made.name).reason == boost::system::errc::is_a_directory;
    return made;
}

} // namespace

folder_listing list_folder(std::string const& path, opener const& files)
{
    file_opening opened =
        open_or_ask(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, files.for_folders());
    if (!opened.fd)
        return {{}, to_string(opened)};
    std::unique_ptr<DIR, close_folder> const folder{::fdopendir(opened.fd.get())};
    if (folder == nullptr)
        return {{}, last_system_error().message()};
    static_cast<void>(opened.fd.release()); // The stream closes it.
    folder_listing made;
    for (;;) {
        errno = 0;
        dirent const* const found = ::readdir(folder.get()); // NOLINT: a stream of one thread's.
        if (found == nullptr)
            break;
        std::string_view const name{static_cast<char const*>(found->d_name)};
        if (name != "." && name != "..")
            made.entries.push_back(entry_for(folder.get(), *found, path, files));
    }
    if (errno != 0)
        made.fault = last_system_error().message();
    return made;
}

root_folders root_folders_of(opener const& files)
{
    if (files.present_state() == opener::state::none)
        return {};
    return {
        .watch =
            [&files](int inotify, std::string const& path) { return files.watch(inotify, path); },
        .list = [&files](std::string const& folder) -> std::optional<std::vector<folder_entry>> {
            folder_listing found = list_folder(folder, files);
            if (!found.fault.empty())
                return std::nullopt;
            return std::move(found.entries);
        }};
}

} // namespace cleat::app
