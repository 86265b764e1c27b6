#include "config/read_files.hpp"
#include "watch/watched_files.hpp"

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

// As many as the kernel follows (path_resolution(7)).
constexpr int links_max = 40;

// Adds each link on the way, and returns where the path leads, as far as it exists.
fs::path add_links(watched_files& files, fs::path const& path, std::string const& way, int& links)
{
    fs::path reached;
    for (fs::path const& name : path) {
        if (name.empty()) // Behind a slash at the end.
            continue;
        fs::path const next = reached / name;
        std::error_code ec;
        if (name == ".." || name == ".") { // Of a real folder: links before it are resolved.
            reached = name == ".." ? reached.parent_path() : reached;
            continue;
        }
        if (!fs::is_symlink(next, ec) || links == 0) {
            reached = next;
            continue;
        }
        --links;
        watched_folder& folder = files[reached.string()];
        folder.names.insert(name.string());
        folder.ways.insert(way);
        fs::path const target = fs::read_symlink(next, ec);
        reached = add_links(files, target.is_absolute() ? target : reached / target, way, links);
    }
    return reached;
}

std::size_t mixed(std::size_t hash, std::size_t more) noexcept
{
    return hash ^ (more + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U));
}

folder_status status_of_file(std::string const& path)
{
    struct stat found
    {
    };
    std::size_t hash = std::hash<std::string>{}(path);
    if (::lstat(path.c_str(), &found) != 0)
        return errno == EACCES ? folder_status{} : mixed(hash, static_cast<std::size_t>(errno));
    for (auto const part :
         {static_cast<std::size_t>(found.st_ino), static_cast<std::size_t>(found.st_size),
          static_cast<std::size_t>(found.st_mtim.tv_sec),
          static_cast<std::size_t>(found.st_mtim.tv_nsec),
          static_cast<std::size_t>(found.st_ctim.tv_sec),
          static_cast<std::size_t>(found.st_ctim.tv_nsec)})
        hash = mixed(hash, part);
    return hash;
}

// Links and folders in a folder. Nothing: neither this process nor `root` may read it.
std::optional<std::vector<folder_entry>> list(
    fs::path const& folder, std::string const& way, root_folders const& root)
{
    std::vector<folder_entry> found;
    std::error_code ec;
    fs::directory_iterator i{folder, ec};
    if (ec == std::errc::permission_denied)
        return root.list ? root.list(way) : std::nullopt;
    for (fs::directory_iterator const end; !ec && i != end; i.increment(ec)) {
        std::error_code unknown;
        bool const is_link = i->is_symlink(unknown);
        if (is_link || i->is_directory(unknown))
            found.push_back({i->path().filename().string(), !is_link, is_link});
    }
    return found;
}

void add_file(watched_files& files, fs::path const& path, std::string const& way)
{
    int links = links_max;
    fs::path const reached = add_links(files, path, way, links);
    watched_folder& folder = files[reached.parent_path().string()];
    folder.names.insert(reached.filename().string());
    folder.ways.insert(way);
}

// The folder, and with `recursive` the ones in it, as pem-dir takes them: no link, no leading dot.
// True: there are links.
bool add_folder(
    watched_files& files, fs::path const& folder, std::string const& way, bool recursive,
    root_folders const& root)
{
    bool has_links = false;
    std::vector<std::pair<fs::path, std::string>> left{{folder, way}};
    while (!left.empty()) {
        auto const [next, next_way] = std::move(left.back());
        left.pop_back();
        std::optional<std::vector<folder_entry>> const found = list(next, next_way, root);
        watched_folder& place = files[next.string()];
        place.all = true;
        place.way = next_way;
        place.is_partial = recursive && !found;
        if (!found)
            continue;
        for (folder_entry const& each : *found) {
            std::string const each_way = next_way + '/' + each.name;
            if (each.is_link) {
                add_file(files, next / each.name, each_way);
                has_links = true;
            } else if (recursive && each.is_folder && each.name.front() != '.')
                left.emplace_back(next / each.name, each_way);
        }
    }
    return has_links;
}

} // namespace

void add_path(watched_files& files, std::string const& path)
{
    fs::path const whole = fs::absolute(path);
    add_file(files, whole, whole.string());
}

bool is_closed(std::string const& folder) noexcept
{
    return ::faccessat(AT_FDCWD, folder.c_str(), R_OK | X_OK, AT_EACCESS) != 0 && errno == EACCES;
}

void add_files(watched_files& files, watched_files const& more)
{
    for (auto const& [path, folder] : more) {
        watched_folder& place = files[path];
        place.names.insert(folder.names.begin(), folder.names.end());
        place.all = place.all || folder.all;
        place.is_partial = place.is_partial || folder.is_partial;
        place.ways.insert(folder.ways.begin(), folder.ways.end());
        place.way = place.way.empty() ? folder.way : place.way;
    }
}

void file_changes::add(file_changes const& more)
{
    is_complete = is_complete && more.is_complete;
    in_folders.insert(more.in_folders.begin(), more.in_folders.end());
    elsewhere = elsewhere || more.elsewhere;
}

watch_plan find_files(config const& settings, root_folders const& root)
{
    watch_plan plan;
    watched_files& files = plan.files;
    // The folder, and those below it. Its real path, and whether a link is on the way or in it.
    auto const add_all = [&](std::string const& path, bool recursive) {
        std::string const way = fs::absolute(path).string();
        int links = links_max;
        fs::path const reached = add_links(files, way, way, links);
        bool const has_links = add_folder(files, reached, way, recursive, root);
        return std::pair{reached.string(), has_links || links != links_max};
    };
    auto const add_crls = [&](std::string const& path) {
        std::error_code unknown;
        if (fs::is_directory(path, unknown)) {
            add_all(path, false);
            return;
        }
        add_path(files, path);
        if (unknown == std::errc::permission_denied) // It may be a folder.
            files[fs::absolute(path).string()].is_partial = true;
    };
    for (read_file const& each : read_files_of(settings)) {
        switch (each.use) {
        case file_use::challenges: // Read at each challenge.
            break;
        case file_use::pem_dir: {
            auto const [reached, has_links] = add_all(each.path, *settings.pem_dir_recursive);
            plan.pem_dirs.push_back(reached);
            plan.has_links = has_links || plan.has_links;
            break;
        }
        case file_use::crls:
            add_crls(each.path);
            break;
        case file_use::ticket_secret:
            if (!*settings.ticket_ratchet) // Else cleat changes it.
                add_path(files, each.path);
            break;
        default:
            add_path(files, each.path);
        }
    }
    return plan;
}

std::vector<folder_identity> identities_of(watched_files const& files)
{
    std::vector<folder_identity> all;
    all.reserve(files.size());
    for (auto const& [path, folder] : files) {
        struct stat found
        {
        };
        bool const is_there = ::lstat(path.c_str(), &found) == 0;
        all.push_back(
            is_there ? folder_identity{found.st_dev, found.st_ino, 0}
                     : folder_identity{0, 0, errno});
    }
    return all;
}

std::vector<folder_status> statuses_of(watched_files const& files)
{
    std::vector<folder_status> all;
    all.reserve(files.size());
    for (auto const& [path, folder] : files) {
        folder_status sum = 0; // Not mixed: a folder's order may differ from time to time.
        auto const add = [&](folder_status const& more) {
            sum = sum && more ? folder_status{*sum + *more} : std::nullopt;
        };
        for (std::string const& name : folder.names)
            add(status_of_file(path + "/" + name));
        std::error_code ec;
        if (folder.all)
            for (fs::directory_iterator i{path, ec}, end; !ec && i != end; i.increment(ec))
                add(status_of_file(i->path().string()));
        all.push_back(ec == std::errc::permission_denied ? std::nullopt : sum);
    }
    return all;
}

} // namespace cleat::app
