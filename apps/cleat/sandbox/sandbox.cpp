#include "config/read_files.hpp"
#include "sandbox/memory.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/system_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

error_code system_error_of(int number) noexcept
{
    return {number, boost::system::system_category()};
}

// The kernel does not have Landlock.
bool lacks_landlock(error_code fault)
{
    return fault == system_error_of(ENOSYS) || fault == system_error_of(EOPNOTSUPP);
}

std::string why_no_landlock(error_code fault)
{
    if (fault == system_error_of(ENOSYS))
        return "this kernel has no Landlock, or a container's filter of system calls forbids it";
    if (fault == system_error_of(EOPNOTSUPP))
        return "this kernel was started without Landlock";
    if (fault == system_error_of(EPERM))
        return "the system calls of Landlock are not permitted: a filter of the service manager "
               "(systemd's SystemCallFilter=) or of a container refuses them";
    if (fault == system_error_of(E2BIG))
        return "it is in 16 of them already";
    return fault.message();
}

std::string cure_for_landlock(error_code fault)
{
    if (fault == system_error_of(EOPNOTSUPP))
        return "Add landlock to the kernel's lsm= parameter, or write sandbox = auto.";
    if (fault == system_error_of(EPERM))
        return "Let the filter allow landlock_create_ruleset, landlock_add_rule and "
               "landlock_restrict_self, or write sandbox = auto.";
    return "Take Linux 5.13 or later, or write sandbox = auto.";
}

// Whether the user of this process could, without a sandbox: Landlock does not decide about
// access(2).
bool user_may(std::string const& path, int what) noexcept
{
    return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
}

std::string parent_folder(std::string const& path)
{
    return fs::absolute(path).lexically_normal().parent_path().string();
}

bool contains(std::vector<std::uint16_t> const& ports, std::uint16_t port)
{
    return std::ranges::find(ports, port) != ports.end();
}

problem denied_port(location const& where, std::string key, std::string_view what, unsigned port)
{
    return {
        problem::severity::error, where, std::move(key),
        fmt::format(
            "sandbox = ports lets cleat {} the ports of its start only, not {}", what, port),
        "Restart cleat, or take ports out of sandbox."};
}

// Only for a reload: the ports of a start include those of upstream-source.
problem denied_sources(config const& wanted)
{
    location where = wanted.upstream_source.location;
    for (upstream_config const& each : wanted.upstreams)
        if (each.source && wanted.upstream_source->numbers.empty())
            where = each.source->location;
    return {
        problem::severity::error, where, "upstream-source",
        "sandbox = ports lets cleat use upstream-source only where its start did",
        "Restart cleat, or take ports out of sandbox."};
}

void refuse_lack(config const& settings, error_code fault, int abi, std::vector<problem>& problems)
{
    sandbox_choice const& choice = *settings.sandbox;
    if (choice.landlock != landlock_use::required)
        return;
    if (fault)
        problems.push_back(
            {problem::severity::error, settings.sandbox.location, "sandbox",
             "cannot use Landlock: " + why_no_landlock(fault), cure_for_landlock(fault)});
    else if (choice.ports && abi < 4)
        problems.push_back(
            {problem::severity::error, settings.sandbox.location, "sandbox",
             "this kernel's Landlock knows no ports",
             "Take Linux 6.7 or later, or leave ports out."});
}

// systemd sets it for a unit with LogsDirectory=.
std::string logs_directory()
{
    char const* const folders = std::getenv("LOGS_DIRECTORY"); // NOLINT: no thread changes it
    return folders == nullptr ? "" : folders;
}

class explainer
{
public:
    explainer(sandbox const& limits, std::vector<problem>& problems)
        : limits_{limits}, problems_{problems}
    {
    }

    void add_read(location const& where, std::string_view key, std::string const& path)
    {
        if (!limits_.denies_reading(path))
            return;
        is_found_ = true;
        problems_.push_back(
            {problem::severity::error, where, std::string{key},
             fmt::format(
                 "the sandbox keeps {} from cleat, which reads the folders that were named at its "
                 "start",
                 path),
             "Restart cleat, or start it with sandbox-read naming the folder."});
    }

    void add_written(location const& where, std::string_view key, std::string const& path)
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key},
             fmt::format(
                 "the sandbox does not let cleat write in {}, which was not named at its start",
                 parent_folder(path)),
             "Restart cleat, or start it with sandbox-write naming the folder."});
    }

    [[nodiscard]] bool is_found() const noexcept { return is_found_; }

private:
    sandbox const& limits_;
    std::vector<problem>& problems_;
    bool is_found_ = false;
};

} // namespace

sandbox sandbox::enter(
    config const& settings, watched_files const& named, std::string const& folder,
    std::vector<problem>& problems)
{
    sandbox made;
    sandbox_choice const& choice = *settings.sandbox;
    made.facts_.core_dumps = *settings.core_dumps;
    made.facts_.memory_locked = *settings.lock_memory;
    if (choice.is_off())
        return made;
    made.facts_.no_new_privs = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (choice.landlock != landlock_use::off) {
        made.rules_ = rules_for(settings, named, folder, ::geteuid() == 0, logs_directory());
        made.landlock_ = enter_landlock(made.rules_);
        made.facts_.landlock_abi = made.landlock_.abi;
        made.facts_.ports = choice.ports && made.landlock_.abi >= 4;
        if (made.landlock_.fault)
            made.facts_.landlock_fault = why_no_landlock(made.landlock_.fault);
        made.facts_.landlock_refused =
            made.landlock_.fault && !lacks_landlock(made.landlock_.fault);
        refuse_lack(settings, made.landlock_.fault, made.landlock_.abi, problems);
    }
    if (choice.seccomp) {
        int const failed = limit_system_calls();
        made.facts_.seccomp = failed == 0;
        if (failed != 0)
            problems.push_back(
                {problem::severity::error, settings.sandbox.location, "sandbox",
                 "cannot use seccomp: " + system_error_of(failed).message(),
                 "Let the filter of the service manager (systemd's SystemCallFilter=) or of the "
                 "container allow the call seccomp, take a kernel with CONFIG_SECCOMP_FILTER, or "
                 "leave seccomp out."});
    }
    return made;
}

bool sandbox::denies(std::string const& path, std::uint64_t rights) const
{
    return facts_.landlock_abi != 0 && !landlock_.places.allow(path, rights);
}

bool sandbox::denies_reading(std::string const& path) const
{
    return denies(path, landlock::read_file) && user_may(path, R_OK);
}

bool sandbox::denies_logging(std::string const& path) const
{
    bool const is_there = user_may(path, F_OK);
    return denies(path, is_there ? landlock::write_file : rights::logging) &&
           (is_there ? user_may(path, W_OK) : user_may(parent_folder(path), W_OK | X_OK));
}

void sandbox::explain(
    config const& wanted, watched_files const& named, std::vector<problem>& problems) const
{
    explainer add{*this, problems};
    for (read_file const& each : read_files_of(wanted))
        add.add_read(each.where, each.key, each.path);
    if (!add.is_found()) // A file of a pem-dir is a link.
        for (auto const& [folder, names] : named)
            if (!wanted.pem_dirs.empty())
                add.add_read(wanted.pem_dirs.front().location, "pem-dir", folder);
    if (!wanted.log_filename->empty() && denies_logging(*wanted.log_filename))
        add.add_written(wanted.log_filename.location, "log-filename", *wanted.log_filename);
    if (target_of_access_log(wanted) == access_log_target::file &&
        denies_logging(*wanted.access_log))
        add.add_written(wanted.access_log.location, "access-log", *wanted.access_log);
    if (*wanted.ticket_ratchet && !wanted.ticket_secret->empty() &&
        denies(parent_folder(*wanted.ticket_secret), rights::replacing) &&
        user_may(parent_folder(*wanted.ticket_secret), W_OK | X_OK))
        add.add_written(wanted.ticket_secret.location, "ticket-secret", *wanted.ticket_secret);
    unix_path const* const socket = std::get_if<unix_path>(&*wanted.admin);
    if (socket != nullptr && denies(socket->path, rights::sockets) &&
        user_may(parent_folder(socket->path), W_OK | X_OK))
        add.add_written(wanted.admin.location, "admin", socket->path);
    if (!facts_.ports)
        return;
    for (frontend_config const& each : wanted.frontends)
        if (!contains(rules_.bound_ports, *each.port))
            problems.push_back(denied_port(each.location, "frontend", "listen on", *each.port));
    if (names_sources(wanted) && !contains(rules_.bound_ports, 0))
        problems.push_back(denied_sources(wanted));
    host_port const* const admin = std::get_if<host_port>(&*wanted.admin);
    if (admin != nullptr && !contains(rules_.bound_ports, admin->port))
        problems.push_back(denied_port(wanted.admin.location, "admin", "listen on", admin->port));
}

void sandbox::refuse_upstream(config const& wanted, std::vector<problem>& problems) const
{
    if (!facts_.ports)
        return;
    for (connected_port const& each : connected_ports_for(wanted))
        if (!contains(rules_.connected_ports, each.port))
            problems.push_back(
                denied_port(each.where, std::string{each.key}, "connect to", each.port));
}

void start_memory_protection(config const& settings) noexcept
{
    if (!*settings.core_dumps)
        hide_memory();
    if (*settings.lock_memory)
        raise_locking_limit();
}

void finish_memory_protection(config const& settings, std::vector<problem>& problems)
{
    if (!*settings.core_dumps)
        hide_memory();
    if (!*settings.lock_memory)
        return;
    if (error_code const failed = lock_memory())
        problems.push_back(
            {problem::severity::error, settings.lock_memory.location, "lock-memory",
             "cannot keep memory out of swap: " + failed.message(),
             "Start as root, or without a limit: `ulimit -l unlimited`, or systemd's "
             "LimitMEMLOCK=infinity."});
}

void check_sandbox(config const& settings, std::vector<problem>& problems)
{
    result<int> const abi = landlock_abi();
    refuse_lack(settings, abi ? error_code{} : abi.error(), abi ? *abi : 0, problems);
}

void check_sandbox_folders(config const& settings, std::vector<problem>& problems)
{
    auto const warn = [&](setting<std::string> const& folder, char const* key, std::string text,
                          std::string cure) {
        problems.push_back(
            {problem::severity::warning, folder.location, key, std::move(text), std::move(cure)});
    };
    auto const look = [&](setting<std::string> const& folder, char const* key) {
        std::error_code ec;
        fs::file_status const found = fs::status(*settings.chroot + *folder, ec);
        if (found.type() == fs::file_type::not_found)
            warn(
                folder, key, fmt::format("{} is not there, so it gives no right", *folder),
                "Make the folder before cleat starts, or leave it out.");
        return found;
    };
    for (setting<std::string> const& each : settings.sandbox_read)
        look(each, "sandbox-read");
    for (setting<std::string> const& each : settings.sandbox_write)
        if (fs::is_regular_file(look(each, "sandbox-write")))
            warn(
                each, "sandbox-write",
                fmt::format("{} is a file: no log or socket can be made in it", *each),
                "Name its folder.");
}

std::string offered_limits()
{
    result<int> const abi = landlock_abi();
    bool const has_seccomp = offers_seccomp();
    std::string text = abi ? fmt::format("Landlock ABI {}, ", *abi) : std::string{};
    text += has_seccomp ? "seccomp, no_new_privs" : "no_new_privs";
    if (!abi)
        text += fmt::format("; no Landlock: {}", why_no_landlock(abi.error()));
    if (!has_seccomp)
        text += "; no seccomp";
    if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER)
        text += "; this process has a seccomp filter already";
    return text;
}

} // namespace cleat::app
