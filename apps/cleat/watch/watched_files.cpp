#include "watch/watched_files.hpp"

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include <sys/stat.h>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

// As many as the kernel follows (path_resolution(7)).
constexpr int links_max = 40;

// Adds each link on the way, and returns where the path leads, as far as it exists.
fs::path add_links(watched_files& files, fs::path const& path, int& links)
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
        files[reached.string()].names.insert(name.string());
        fs::path const target = fs::read_symlink(next, ec);
        reached = add_links(files, target.is_absolute() ? target : reached / target, links);
    }
    return reached;
}

std::size_t mixed(std::size_t hash, std::size_t more) noexcept
{
    return hash ^ (more + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U));
}

std::size_t status_of_file(std::string const& path)
{
    struct stat found
    {
    };
    std::size_t hash = std::hash<std::string>{}(path);
    if (::lstat(path.c_str(), &found) != 0)
        return mixed(hash, static_cast<std::size_t>(errno));
    for (auto const part :
         {static_cast<std::size_t>(found.st_ino), static_cast<std::size_t>(found.st_size),
          static_cast<std::size_t>(found.st_mtim.tv_sec),
          static_cast<std::size_t>(found.st_mtim.tv_nsec),
          static_cast<std::size_t>(found.st_ctim.tv_sec),
          static_cast<std::size_t>(found.st_ctim.tv_nsec)})
        hash = mixed(hash, part);
    return hash;
}

// The folder, and with `recursive` the ones in it, as pem-dir takes them: no link, no leading dot.
// True: there are links.
bool add_folder(watched_files& files, fs::path const& folder, bool recursive)
{
    bool has_links = false;
    std::vector<fs::path> left{folder};
    while (!left.empty()) {
        fs::path const next = std::move(left.back());
        left.pop_back();
        files[next.string()].all = true;
        std::error_code ec;
        for (fs::directory_iterator i{next, ec}, end; !ec && i != end; i.increment(ec)) {
            std::error_code unknown;
            bool const is_hidden = i->path().filename().string().front() == '.';
            if (i->is_symlink(unknown)) {
                add_path(files, i->path().string());
                has_links = true;
            } else if (recursive && !is_hidden && i->is_directory(unknown))
                left.push_back(i->path());
        }
    }
    return has_links;
}

} // namespace

void add_path(watched_files& files, std::string const& path)
{
    int links = links_max;
    fs::path const reached = add_links(files, fs::absolute(path), links);
    files[reached.parent_path().string()].names.insert(reached.filename().string());
}

void add_files(watched_files& files, watched_files const& more)
{
    for (auto const& [path, folder] : more) {
        watched_folder& place = files[path];
        place.names.insert(folder.names.begin(), folder.names.end());
        place.all = place.all || folder.all;
    }
}

void file_changes::add(file_changes const& more)
{
    is_complete = is_complete && more.is_complete;
    in_folders.insert(more.in_folders.begin(), more.in_folders.end());
    elsewhere = elsewhere || more.elsewhere;
}

watch_plan plan_watching(config const& settings)
{
    watch_plan plan = find_files(settings);
    plan.status = status_of(plan.files);
    return plan;
}

watch_plan find_files(config const& settings)
{
    watch_plan plan;
    watched_files& files = plan.files;
    auto const add = [&](std::string const& path) {
        if (!path.empty())
            add_path(files, path);
    };
    auto const add_pems = [&](std::vector<pem_file> const& pems) {
        for (pem_file const& each : pems) {
            add(*each.cert);
            add(*each.private_key);
            add(*each.ocsp_resp_file);
            if (each.client_verify_ca)
                add(**each.client_verify_ca);
        }
    };
    add(settings.file);
    add_pems(settings.pem_files);
    add(*settings.client_verify_ca);
    add(*settings.ticket_secret);
    for (frontend_config const* const each : own_settings_of(settings)) {
        add_pems(each->pem_files);
        if (each->client_verify_ca)
            add(**each->client_verify_ca);
    }
    for (named_list const& each : address_lists_of(settings))
        for (std::string const& file : (*each.list)->files)
            add(file);
    for (named_path const& each : client_allow_files_of(settings))
        add(**each.path);
    for (named_path const& each : client_crls_of(settings)) {
        std::error_code unknown;
        if (!fs::is_directory(**each.path, unknown)) {
            add(**each.path);
            continue;
        }
        int links = links_max;
        add_folder(files, add_links(files, fs::absolute(**each.path), links), false);
    }
    for (named_path const& each : upstream_files_of(settings))
        add(**each.path);
    for (setting<std::string> const& folder : settings.pem_dirs) {
        int links = links_max;
        fs::path const reached = add_links(files, fs::absolute(*folder), links);
        plan.pem_dirs.push_back(reached.string());
        plan.has_links = add_folder(files, reached, *settings.pem_dir_recursive) ||
                         links != links_max || plan.has_links;
    }
    return plan;
}

std::size_t identity_of(watched_files const& files)
{
    std::size_t hash = 0;
    for (auto const& [path, folder] : files) {
        struct stat found
        {
        };
        bool const is_there = ::lstat(path.c_str(), &found) == 0;
        hash = mixed(hash, is_there ? found.st_dev : static_cast<std::size_t>(errno));
        hash = mixed(hash, is_there ? found.st_ino : 0);
    }
    return hash;
}

std::size_t status_of(watched_files const& files)
{
    std::size_t sum = 0; // Not mixed: a folder's order may differ from time to time.
    for (auto const& [path, folder] : files) {
        for (std::string const& name : folder.names)
            sum += status_of_file(path + "/" + name);
        if (!folder.all)
            continue;
        std::error_code ec;
        for (fs::directory_iterator i{path, ec}, end; !ec && i != end; i.increment(ec))
            sum += status_of_file(i->path().string());
    }
    return sum;
}

} // namespace cleat::app
