#include "log/log_sink.hpp"
#include "sandbox/rules.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <variant>

#include <sys/stat.h>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

// The C library and the process itself read this at any time: names of hosts, the modules that
// look them up, character sets, times, the CPUs. /etc as a whole, because a file of it is often
// replaced by another, which a rule for the file alone would not know.
constexpr std::array system_folders = std::to_array<std::string_view>({
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
    "/usr/share",
    "/nix/store",
    "/gnu/store",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/proc/self",
    "/proc/sys",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
});

constexpr std::array shared_folders = std::to_array<std::string_view>({
    "/",          "/boot",        "/dev",
    "/home",      "/media",       "/mnt",
    "/opt",       "/proc",        "/root",
    "/run",       "/srv",         "/sys",
    "/tmp",       "/usr",         "/usr/local",
    "/usr/share", "/var",         "/var/cache",
    "/var/lib",   "/var/log",     "/var/opt",
    "/var/run",   "/var/spool",   "/var/tmp",
    "/run/user",  "/run/secrets", "/run/credentials",
    "/run/lock",
});

std::string whole(std::string const& folder, std::string const& path)
{
    fs::path made = (fs::path{folder} / path).lexically_normal();
    if (!made.has_filename() && made != made.root_path())
        made = made.parent_path();
    return made.string();
}

std::string folder_of(std::string const& folder, std::string const& path)
{
    return fs::path{whole(folder, path)}.parent_path().string();
}

bool is_special_file(std::string const& path)
{
    struct stat about
    {
    };
    return ::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

class rule_maker
{
public:
    rule_maker(config const& settings, std::string const& folder)
        : settings_{settings}, folder_{folder}
    {
    }

    sandbox_rules make(watched_files const& named, bool is_root, std::string_view log_folders)
    {
        for (std::string_view const each : system_folders)
            add(std::string{each}, rights::reading);
        add("/dev/null", landlock::write_file);
        for (auto const& [path, names] : named)
            add_named(path, names);
        if (!settings_.acme_challenges->empty())
            add(whole(folder_, *settings_.acme_challenges), rights::reading);
        for (setting<std::string> const& each : settings_.sandbox_read)
            add(whole(folder_, *each), rights::reading);
        for (setting<std::string> const& each : settings_.sandbox_write)
            add(whole(folder_, *each), rights::writing);
        add_written();
        add_log_folders(log_folders);
        // RuntimeDirectory= and the like. Where cleat is root, all of it would be its.
        if (!is_root)
            add("/run", rights::sockets);
        add_ports();
        return std::move(rules_);
    }

private:
    void add(std::string path, std::uint64_t rights)
    {
        rules_.paths.push_back({std::move(path), rights});
    }

    // The folder above, too: a folder may be replaced by another of its name, and the next
    // certificate has a folder beside this one.
    void add_named(std::string const& path, watched_folder const& names)
    {
        if (path == "/") {
            for (std::string const& each : names.names)
                add("/" + each, rights::reading);
            return;
        }
        add(path, rights::reading);
        std::string const above = fs::path{path}.parent_path().string();
        if (!is_shared_folder(above))
            add(above, rights::reading);
    }

    void add_log(std::string const& log)
    {
        if (log.empty() || log_sink::is_standard(log))
            return;
        if (is_special_file(whole(folder_, log)))
            add(whole(folder_, log), landlock::write_file);
        else
            add(folder_of(folder_, log), rights::logging);
    }

    void add_log_folders(std::string_view folders)
    {
        while (!folders.empty()) {
            std::string_view const each = folders.substr(0, folders.find(':'));
            if (each.starts_with('/'))
                add(whole(folder_, std::string{each}), rights::logging);
            folders.remove_prefix(std::min(each.size() + 1, folders.size()));
        }
    }

    void add_written()
    {
        add_log(*settings_.log_filename);
        if (target_of_access_log(settings_) == access_log_target::file)
            add_log(*settings_.access_log);
        if (!settings_.certificate_index->empty())
            add(folder_of(folder_, *settings_.certificate_index), rights::replacing);
        if (*settings_.ticket_ratchet && !settings_.ticket_secret->empty())
            add(folder_of(folder_, *settings_.ticket_secret), rights::reading | rights::replacing);
        if (!settings_.pidfile->empty())
            add(folder_of(folder_, *settings_.pidfile), rights::removing);
        if (unix_path const* const socket = std::get_if<unix_path>(&*settings_.admin))
            add(folder_of(folder_, socket->path), rights::sockets);
    }

    void add_ports()
    {
        rules_.limits_ports = settings_.sandbox->ports;
        for (frontend_config const& each : settings_.frontends)
            rules_.bound_ports.push_back(*each.port);
        if (host_port const* const admin = std::get_if<host_port>(&*settings_.admin))
            rules_.bound_ports.push_back(admin->port);
        if (names_sources(settings_))
            rules_.bound_ports.push_back(0);
        for (connected_port const& each : connected_ports_for(settings_))
            rules_.connected_ports.push_back(each.port);
        rules_.connected_ports.push_back(53); // DNS: a long answer comes by TCP.
        for (host_port const& each : settings_.dns_servers->servers)
            rules_.connected_ports.push_back(each.port);
    }

    config const& settings_;
    std::string const& folder_;
    sandbox_rules rules_;
};

} // namespace

bool is_shared_folder(std::string_view path)
{
    std::string const above = fs::path{path}.parent_path().string();
    return std::ranges::find(shared_folders, path) != shared_folders.end() || above == "/home" ||
           above == "/run/user";
}

sandbox_rules rules_for(
    config const& settings, watched_files const& named, std::string const& folder, bool is_root,
    std::string_view log_folders)
{
    return rule_maker{settings, folder}.make(named, is_root, log_folders);
}

bool names_sources(config const& settings)
{
    return !settings.upstream_source->numbers.empty() ||
           std::ranges::any_of(settings.upstreams, [](upstream_config const& each) {
               return each.source && !(*each.source)->numbers.empty();
           });
}

std::vector<connected_port> connected_ports_for(config const& settings)
{
    std::vector<connected_port> found;
    auto const add = [&](setting<upstream_address> const& server, std::string_view key) {
        if (host_port const* const tcp = std::get_if<host_port>(&*server))
            found.push_back({tcp->port, server.location, key});
    };
    add(settings.backend, "backend");
    for (upstream_config const& upstream : settings.upstreams)
        for (upstream_server const& each : upstream.servers)
            add(each.address, "server");
    return found;
}

} // namespace cleat::app
