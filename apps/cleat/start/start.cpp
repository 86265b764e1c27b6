#include "certificates/certificate_loading.hpp"
#include "command_line/command.hpp"
#include "config/problem_report.hpp"
#include "memory/memory_gauge.hpp"
#include "process/version.hpp"
#include "snapshot/memory_planning.hpp"
#include "standard_error.hpp"
#include "start/named_places.hpp"
#include "start/start.hpp"
#include "start/ticket_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

[[noreturn]] void fail(problem why)
{
    throw start_error{std::move(why)};
}

[[noreturn]] void fail(location const& place, std::string key, std::string text, std::string cure)
{
    fail({problem::severity::error, place, std::move(key), std::move(text), std::move(cure)});
}

std::string cure_for_file(error_code ec)
{
    if (ec == boost::system::errc::too_many_symbolic_link_levels)
        return "It is a symbolic link, which any user who can write its folder may have made: "
               "name the file itself.";
    if (ec == boost::system::errc::too_many_links)
        return "It has another name too, and may be a file that is not for this: remove it, or "
               "choose another.";
    if (ec == boost::system::errc::is_a_directory)
        return "Name a file in it.";
    if (ec == boost::system::errc::permission_denied ||
        ec == boost::system::errc::read_only_file_system)
        return "Let the user who starts cleat write there, or choose another file.";
    if (ec == boost::system::errc::file_exists)
        return "Something is there that is no pid file: see what it is, then remove it, or choose "
               "another.";
    if (ec == boost::system::errc::no_such_device_or_address)
        return "A FIFO needs a program that reads it, and a socket is no file: start the reader, "
               "or choose another file.";
    return "Make its folder, or choose another file.";
}

problem cannot_write(setting<std::string> const& file, std::string key, error_code ec)
{
    return {
        problem::severity::error, file.location, std::move(key),
        fmt::format("cannot write {}: {}", *file, ec.message()), cure_for_file(ec)};
}

std::string cure_for_admin(bool is_path, error_code ec)
{
    if (ec == boost::system::errc::address_in_use)
        return "Another program, a frontend or the present admin server listens there: choose "
               "another port or path, or restart cleat.";
    if (ec == boost::system::errc::file_exists)
        return "Something is there that is no socket: see what it is, then remove it, or choose "
               "another path.";
    if (ec == boost::system::errc::permission_denied && is_path)
        return "Let the user that cleat runs as write the folder: its own in /run, for example "
               "systemd's RuntimeDirectory=. Remove a socket that another user has left there.";
    if (ec == boost::system::errc::permission_denied)
        return "Ports below 1024 are root's: choose another.";
    if (ec == boost::system::errc::address_not_available)
        return "This machine has no such address: see `ip addr`.";
    return is_path ? "Make its folder, or choose another path." : "Choose another address.";
}

problem cannot_serve_admin(config const& settings, error_code ec)
{
    bool const is_inside =
        !settings.chroot->empty() && std::holds_alternative<unix_path>(*settings.admin);
    return {
        problem::severity::error, settings.admin.location, "admin",
        fmt::format(
            "cannot listen on {}{}: {}", to_string(*settings.admin),
            is_inside ? " inside " + *settings.chroot + ", the chroot" : "", ec.message()),
        cure_for_admin(std::holds_alternative<unix_path>(*settings.admin), ec)};
}

// A daemon changes to the root directory, and its files stay where they were named.
std::string absolute(std::string const& path)
{
    return std::filesystem::absolute(path).string();
}

// Without a log daemon the log still has log-filename, where that is set.
problem no_log_daemon(config const& settings, error_code ec)
{
    bool const has_file = !settings.log_filename->empty();
    return {
        has_file ? problem::severity::warning : problem::severity::error, settings.syslog.location,
        "syslog",
        fmt::format(
            "no log daemon listens on /dev/log: {}{}", ec.message(),
            has_file ? ". Until one does, the log goes to log-filename alone" : ""),
        has_file ? "Start one, or turn syslog off." : "Start one, or use log-filename."};
}

problem no_daemon_for_access(setting<std::string> const& target, error_code ec)
{
    return {
        problem::severity::error, target.location, "access-log",
        fmt::format("no log daemon listens on /dev/log: {}", ec.message()),
        "Start one, or name a file."};
}

// Whether a FIFO has a reader cannot be checked: opening and closing it would end that reader.
void check_log_file(
    setting<std::string> const& file, std::string_view key, std::vector<problem>& problems)
{
    // The standard descriptors are there already, though their names are links.
    if (file->empty() || log_sink::is_standard(*file))
        return;
    std::string const path = absolute(*file);
    struct stat about
    {
    };
    bool const is_there = ::lstat(path.c_str(), &about) == 0;
    error_code const ec = is_there && S_ISSOCK(about.st_mode)
                              ? make_error_code(boost::system::errc::no_such_device_or_address)
                              : obstacle_to_writing(path);
    if (ec)
        problems.push_back(cannot_write(file, std::string{key}, ec));
    else if (is_there && S_ISFIFO(about.st_mode))
        problems.push_back(
            {problem::severity::warning, file.location, std::string{key},
             fmt::format("{} is a FIFO: a start fails while no program reads it", *file),
             "Start its reader before cleat."});
}

void find_access_log_obstacle(config const& settings, std::vector<problem>& problems)
{
    switch (target_of_access_log(settings)) {
    case access_log_target::file:
        check_log_file(settings.access_log, "access-log", problems);
        return;
    case access_log_target::syslog:
        if (auto const sink = log_sink::to_syslog("cleat", 0); !sink)
            problems.push_back(no_daemon_for_access(settings.access_log, sink.error()));
        return;
    case access_log_target::off:
    case access_log_target::standard_output:
        return;
    }
}

std::optional<problem> find_no_log_daemon(config const& settings)
{
    if (!*settings.syslog)
        return {};
    result<std::unique_ptr<log_sink>> const sink = log_sink::to_syslog("cleat", 0);
    if (sink)
        return {};
    return no_log_daemon(settings, sink.error());
}

void copy_to_syslog(config const& settings, log_sink& file)
{
    result<std::unique_ptr<log_sink>> copy =
        log_sink::to_syslog_later("cleat", settings.syslog_facility->code);
    if (!copy)
        fail(no_log_daemon(settings, copy.error()));
    file.copy_to(std::move(*copy));
    if (std::optional<problem> const missing = find_no_log_daemon(settings))
        report({*missing});
}

bool is_readable(std::filesystem::path const& path) noexcept
{
    return ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
}

} // namespace

bool report(std::vector<problem> const& problems)
{
    for (std::string const& line : problem_report(problems))
        complain("cleat: {}\n", line);
    return !has_errors(problems);
}

void add_other_places(std::vector<problem>& problems, std::vector<problem> later)
{
    std::size_t const known = problems.size();
    for (problem& each : later) {
        auto const is_cause = [&](problem const& before) {
            return before.grade == problem::severity::error && before.where == each.where;
        };
        if (std::ranges::none_of(std::span{problems}.first(known), is_cause))
            problems.push_back(std::move(each));
    }
}

std::uint64_t require_memory(snapshot const& configuration)
{
    std::uint64_t const needed = memory_gauge()();
    std::optional<problem> shortage = memory_shortage(
        configuration.settings.max_memory, configuration.memory_max, {.bytes = needed});
    if (shortage)
        fail(*std::move(shortage));
    return needed;
}

background enter_background(config const& settings)
{
    if (!*settings.daemon)
        return {};
    result<background> left = background::leave();
    if (!left)
        fail(
            settings.daemon.location, "daemon", "cannot fork: " + left.error().message(),
            "See the limits on processes and memory: `ulimit -a`.");
    return std::move(*left);
}

opener start_opener(
    serve const& request, std::string const& folder, std::optional<identity> const& new_identity,
    std::vector<problem>& problems)
{
    if (::geteuid() != 0 || !new_identity || new_identity->uid == 0 ||
        !request.settings.chroot->empty())
        return {};
    try {
        return opener::start(request, folder);
    } catch (std::system_error const& e) {
        problems.push_back(
            {problem::severity::warning, request.settings.user.location, "user",
             fmt::format("cannot start the process that opens root's files: {}", e.what()),
             "Without it a reload reads files and opens ports with the user's rights."});
    }
    return {};
}

std::unique_ptr<log_sink> open_log(
    config const& settings, std::optional<identity> const& new_identity, opener const& root_files)
{
    if (!settings.log_filename->empty()) {
        result<std::unique_ptr<log_sink>> sink =
            log_sink::to_file(absolute(*settings.log_filename), root_files.for_logs());
        if (!sink)
            fail(cannot_write(settings.log_filename, "log-filename", sink.error()));
        if (new_identity)
            (*sink)->give_to(new_identity->uid, new_identity->gid);
        if (*settings.syslog)
            copy_to_syslog(settings, **sink);
        return std::move(*sink);
    }
    // A daemon has no terminal to write to. Without a choice in the settings its log goes to
    // syslog.
    if (*settings.syslog || *settings.daemon) {
        result<std::unique_ptr<log_sink>> sink =
            log_sink::to_syslog("cleat", settings.syslog_facility->code);
        if (!sink && !*settings.syslog) {
            report(
                {{problem::severity::warning, settings.daemon.location, "daemon",
                  fmt::format(
                      "no log daemon listens on /dev/log ({}), so nothing will be logged",
                      sink.error().message()),
                  "Start one, or use log-filename."}});
            return log_sink::to_descriptor(STDERR_FILENO); // /dev/null, for a daemon.
        }
        if (!sink)
            fail(no_log_daemon(settings, sink.error()));
        return std::move(*sink);
    }
    return log_sink::to_descriptor(STDERR_FILENO);
}

std::string cure_for_reopening(error_code ec, std::string_view why)
{
    if (ec == boost::system::errc::permission_denied && why.empty())
        return "Let the user of cleat write the file: logrotate makes it so by "
               "\"create 0640 USER GROUP\". Then send SIGUSR1 again.";
    // A refusal of the process that opens root's files has its own cure.
    std::string const cure = why.empty() ? cure_for_file(ec) + ' ' : std::string{};
    return cure + "Then send SIGUSR1 again.";
}

std::unique_ptr<log_sink> open_access_sink(
    config const& settings, std::optional<identity> const& new_identity, opener const& root_files)
{
    setting<std::string> const& target = settings.access_log;
    std::string path;
    switch (target_of_access_log(settings)) {
    case access_log_target::off:
        return nullptr;
    case access_log_target::syslog: {
        result<std::unique_ptr<log_sink>> sink =
            log_sink::to_syslog("cleat", settings.syslog_facility->code);
        if (!sink)
            fail(no_daemon_for_access(target, sink.error()));
        return std::move(*sink);
    }
    case access_log_target::standard_output:
        path = "/dev/stdout";
        break;
    case access_log_target::file:
        path = absolute(*target);
        break;
    }
    result<std::unique_ptr<log_sink>> sink = log_sink::to_file(path, root_files.for_logs());
    if (!sink)
        fail(cannot_write(target, "access-log", sink.error()));
    if (new_identity)
        (*sink)->give_to(new_identity->uid, new_identity->gid);
    return std::move(*sink);
}

std::shared_ptr<access_log> start_access_log(
    config const& settings, std::unique_ptr<log_sink> sink, std::size_t workers)
{
    if (sink == nullptr)
        return nullptr;
    bool const is_file = target_of_access_log(settings) == access_log_target::file &&
                         !log_sink::is_standard(*settings.access_log);
    return std::make_shared<access_log>(
        std::move(sink), is_file ? absolute(*settings.access_log) : std::string{}, workers);
}

log_level log_level_for(config const& settings) noexcept
{
    return log_level_of(*settings.log_level).value_or(log_level::warning);
}

pid_file write_pid_file(config const& settings)
{
    if (settings.pidfile->empty())
        return {};
    std::string const path = absolute(*settings.pidfile);
    if (pid_t const other = pid_file::holder(path); other != 0)
        fail(
            settings.pidfile.location, "pidfile",
            fmt::format("cleat already runs as {} ({})", other, *settings.pidfile),
            "End it, or name another file.");
    result<pid_file> made = pid_file::write(path);
    if (!made)
        fail(cannot_write(settings.pidfile, "pidfile", made.error()));
    return std::move(*made);
}

std::shared_ptr<admin_socket> open_admin(config const& settings, opener const& root_ports)
{
    if (std::holds_alternative<std::monostate>(*settings.admin))
        return nullptr;
    std::string opener_refusal;
    admin_socket::binder bind_denied;
    if (root_ports.present_state() != opener::state::none)
        bind_denied = [&](int fd, net::address const& address) {
            file_opening const bound = root_ports.bind(fd, *address.data(), address.size);
            opener_refusal = bound.refusal;
            return bound.reason;
        };
    result<admin_socket> opened = admin_socket::open(*settings.admin, bind_denied);
    if (opened)
        return std::make_shared<admin_socket>(std::move(*opened));
    problem why = cannot_serve_admin(settings, opened.error());
    if (!opener_refusal.empty() && is_denied(opened.error()))
        why.text.append(": ").append(opener_refusal);
    fail(std::move(why));
}

// A start opens the socket with the rights of the user that cleat becomes, so look with these.
error_code admin_obstacle(config const& settings, std::optional<identity> const& user)
{
    unix_path const* const socket = std::get_if<unix_path>(&*settings.admin);
    auto const look = [&] {
        if (socket == nullptr || settings.chroot->empty())
            return admin_socket::obstacle(*settings.admin);
        // Inside of the chroot, as far as no link leads out of it. Its whole name may be too long
        // for an address, which it need not be.
        error_code const ec = admin_socket::obstacle(unix_path{*settings.chroot + socket->path});
        return ec == boost::system::errc::filename_too_long ? error_code{} : ec;
    };
    bool const changes_user = user && ::geteuid() == 0 && user->uid != 0;
    return changes_user && socket != nullptr ? run_as(*user, look) : look();
}

void check_files(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems)
{
    auto const look = [&](setting<std::string> const& file, std::string key, auto obstacle) {
        if (file->empty())
            return;
        if (error_code const ec = obstacle(absolute(*file)))
            problems.push_back(cannot_write(file, std::move(key), ec));
    };
    look(settings.pidfile, "pidfile", pid_file::obstacle);
    if (error_code const ec = admin_obstacle(settings, user))
        problems.push_back(cannot_serve_admin(settings, ec));
    if (std::optional<problem> missing = find_no_log_daemon(settings))
        problems.push_back(*std::move(missing));
    std::error_code unknown;
    if (!settings.chroot->empty() && !std::filesystem::is_directory(*settings.chroot, unknown))
        problems.push_back(
            {problem::severity::error, settings.chroot.location, "chroot",
             *settings.chroot + " is no folder", "Make the folder, or leave it out."});
    check_ticket_file(settings, user, problems);
    check_log_file(settings.log_filename, "log-filename", problems);
    find_access_log_obstacle(settings, problems);
}

std::vector<problem> problems_of_start(config settings, scan_observer const& observer)
{
    settings.certificate_index = {}; // Every certificate is read.
    loading loaded = load(std::move(settings), {}, observer);
    std::optional<identity> const user = find_identity(loaded.made.settings, loaded.problems);
    check_addresses(loaded.made, loaded.problems);
    check_files(loaded.made.settings, user, loaded.problems);
    find_places_refused_later(loaded.made.settings, user, loaded.problems);
    check_sandbox(loaded.made.settings, loaded.problems);
    check_sandbox_folders(loaded.made.settings, loaded.problems);
    return std::move(loaded.problems);
}

config single_settings_of(config const& partial)
{
    config single;
    single.user = partial.user;
    single.group = partial.group;
    single.chroot = partial.chroot;
    single.pidfile = partial.pidfile;
    single.syslog = partial.syslog;
    single.log_filename = partial.log_filename;
    single.access_log = partial.access_log;
    single.admin = partial.admin;
    single.ciphers = partial.ciphers;
    single.ciphersuites = partial.ciphersuites;
    single.ecdh_curve = partial.ecdh_curve;
    for (frontend_config const& each : partial.frontends) {
        frontend_config& made = single.frontends.emplace_back();
        made.location = each.location;
        made.host = each.host;
        made.port = each.port;
        made.ciphers = each.ciphers;
        made.ciphersuites = each.ciphersuites;
        made.ecdh_curve = each.ecdh_curve;
    }
    if (single.frontends.empty()) // Its TLS has the settings of all.
        single.frontends.emplace_back();
    return single;
}

void keep_single_settings(std::vector<problem>& problems)
{
    constexpr std::array<std::string_view, 12> keys{
        "user",       "group", "chroot",   "pidfile", "syslog",       "log-filename",
        "access-log", "admin", "frontend", "ciphers", "ciphersuites", "ecdh-curve"};
    std::erase_if(problems, [&](problem const& each) {
        return std::ranges::find(keys, each.key) == keys.end() || each.where.is_built_in();
    });
}

std::vector<problem> problems_of_single_settings(config const& partial)
{
    std::vector<problem> found = problems_of_start(single_settings_of(partial));
    keep_single_settings(found);
    return found;
}

namespace {

void enter_root(config const& settings)
{
    if (settings.chroot->empty())
        return;
    error_code const ec = change_root(*settings.chroot);
    if (ec)
        fail(
            settings.chroot.location, "chroot",
            fmt::format("cannot make {} the root: {}", *settings.chroot, ec.message()),
            ec == boost::system::errc::operation_not_permitted
                ? "Start as root, or leave it out: the sandbox keeps more away."
                : "Make the folder, or leave it out.");
}

} // namespace

void drop_privileges(config const& settings, std::optional<identity> const& new_identity)
{
    error_code ec = new_identity ? join_groups(*new_identity) : error_code{};
    if (!ec)
        enter_root(settings);
    if (!ec && new_identity)
        ec = become(*new_identity);
    if (!ec)
        return;
    bool const has_user = !settings.user->empty();
    fail(
        has_user ? settings.user.location : settings.group.location, has_user ? "user" : "group",
        fmt::format(
            "cannot become {} {} ({}:{}): {}", has_user ? "user" : "group",
            has_user ? *settings.user : *settings.group, new_identity->uid, new_identity->gid,
            ec.message()),
        "Start as root, or without user and group.");
}

sandbox enter_sandbox(snapshot const& configuration, std::string const& folder, logger const& log)
{
    config const& settings = configuration.settings;
    std::vector<problem> problems;
    finish_memory_protection(settings, problems);
    watched_files const named =
        configuration.watched ? configuration.watched->files : find_files(settings).files;
    sandbox made = sandbox::enter(settings, named, folder, problems);
    if (!problems.empty())
        fail(std::move(problems.front()));
    log_line line = made.facts().landlock_refused ? log.warning("sandbox") : log.info("sandbox");
    for (auto const& [name, value] : made.facts().fields())
        line.add(name, value);
    if (!made.facts().landlock_fault.empty())
        line.add("reason", made.facts().landlock_fault);
    return made;
}

void require_readable(snapshot const& configuration, opener const& root_files)
{
    tls::certificate_store const* const store = configuration.catalog.store.get();
    if (store == nullptr)
        return;
    store->for_each([&](tls::certificate_store::number i) {
        tls::certificate_paths const paths = store->paths(i);
        for (std::string const& path : {paths.chain, paths.private_key, paths.ocsp_response}) {
            std::string const whole = std::filesystem::path{store->working_folder()} / path;
            if (path.empty() || is_readable(whole))
                continue;
            file_opening const opened = root_files.open_file(whole);
            if (!opened.fd)
                fail(
                    configuration.settings.user.location, "user",
                    fmt::format(
                        "cannot read {} {}: {}", path,
                        configuration.settings.chroot->empty()
                            ? std::string{"without root's rights"}
                            : "inside " + *configuration.settings.chroot,
                        to_string(opened)),
                    fmt::format(
                        "It is read while cleat serves: let the group of this user read it. {} to "
                        "have it read at the start only.",
                        how_to_load_all(configuration.settings, *store)));
        }
    });
}

control_socket open_control(logger const& log)
{
    result<control_socket> opened = control_socket::open();
    if (opened)
        return std::move(*opened);
    log.warning("no-control-socket").add("reason", opened.error());
    return {};
}

void log_start(
    logger const& log, std::span<listening_place const> places, snapshot const& configuration)
{
    for (listening_place const& each : places)
        log.info("listening").add("address", net::to_string(each.address));
    std::vector<std::string> upstreams;
    for (upstream_plan const& each : configuration.upstreams)
        upstreams.push_back(describe(each));
    log.info("started")
        .add("version", version)
        .add("tls_library", tls_library())
        .add("upstream", fmt::format("{}", fmt::join(upstreams, "; ")));
    if (::geteuid() == 0)
        log.warning("running-as-root").add("cure", "set user to one that may not do much");
}

} // namespace cleat::app
