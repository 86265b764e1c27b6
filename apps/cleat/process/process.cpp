#include "process/process.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app {
namespace {

void unknown(
    std::vector<problem>& problems, location const& place, std::string const& key,
    std::string const& name)
{
    problems.push_back(
        {problem::severity::error, place, key, fmt::format("there is no {} {}", key, name),
         fmt::format(
             "Create it, or name one that `getent {}` lists.",
             key == "user" ? "passwd" : "group")});
}

// A regular file with one name, empty or with a number in it. That leaves out a certificate given
// as -p by mistake, and a hard link that another user has made to a file of root's.
bool is_pid_file(int fd) noexcept
{
    struct stat about
    {
    };
    if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink != 1)
        return false;
    std::array<char, 32> text{};
    ssize_t const size = ::pread(fd, text.data(), text.size(), 0);
    if (size < 0 || about.st_size > static_cast<off_t>(text.size()))
        return false;
    return std::all_of(text.begin(), text.begin() + size, [](char c) {
        return (c >= '0' && c <= '9') || c == '\n' || c == ' ';
    });
}

std::string name_of_process(std::string const& process)
{
    std::ifstream file{"/proc/" + process + "/comm"};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// The process of a number may be gone, and a later one may have got the number. The executable file
// decides, or the name: an upgrade replaces the file that a process runs, and without
// CAP_SYS_PTRACE the file of another user's process cannot be looked at. A zombie has a name, and
// no file.
bool runs_our_program(pid_t process)
{
    std::string const other = std::to_string(process);
    struct stat ours
    {
    };
    struct stat theirs
    {
    };
    if (::stat(("/proc/" + other + "/exe").c_str(), &theirs) != 0)
        return errno == EACCES && name_of_process(other) == name_of_process("self");
    bool const same_file = ::stat("/proc/self/exe", &ours) == 0 && ours.st_dev == theirs.st_dev &&
                           ours.st_ino == theirs.st_ino;
    return same_file || name_of_process(other) == name_of_process("self");
}

// An error if the effective user may not open the file in this way.
error_code may(std::string const& path, int what) noexcept
{
    return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0 ? error_code{}
                                                                      : last_system_error();
}

// 0 where the file has none.
pid_t number_in(int fd) noexcept
{
    std::array<char, 32> text{};
    ssize_t const size = ::pread(fd, text.data(), text.size(), 0);
    pid_t number = 0;
    if (size > 0)
        std::from_chars(text.data(), text.data() + size, number);
    return number;
}

} // namespace

std::optional<identity> find_identity(config const& settings, std::vector<problem>& problems)
{
    if (settings.user->empty() && settings.group->empty())
        return std::nullopt;
    identity found{.user = *settings.user, .uid = ::getuid(), .gid = ::getgid()};
    if (!settings.user->empty()) {
        passwd const* const account = ::getpwnam(settings.user->c_str());
        if (account == nullptr)
            unknown(problems, settings.user.location, "user", *settings.user);
        else
            found = {*settings.user, account->pw_uid, account->pw_gid};
    }
    if (!settings.group->empty()) {
        group const* const entry = ::getgrnam(settings.group->c_str());
        if (entry == nullptr)
            unknown(problems, settings.group.location, "group", *settings.group);
        else
            found.gid = entry->gr_gid;
    }
    return found;
}

error_code join_groups(identity const& target) noexcept
{
    if (target.uid == ::getuid() && target.gid == ::getgid())
        return {};
    int const groups = target.user.empty() ? ::setgroups(0, nullptr)
                                           : ::initgroups(target.user.c_str(), target.gid);
    return groups != 0 || ::setgid(target.gid) != 0 ? last_system_error() : error_code{};
}

error_code become(identity const& target) noexcept
{
    bool const is_done = target.uid == ::getuid();
    return is_done || ::setuid(target.uid) == 0 ? error_code{} : last_system_error();
}

error_code change_root(std::string const& folder) noexcept
{
    return ::chroot(folder.c_str()) == 0 && ::chdir("/") == 0 ? error_code{} : last_system_error();
}

error_code run_as(identity const& target, std::function<error_code()> const& look)
{
    pid_t const child = ::fork();
    if (child < 0)
        return last_system_error();
    if (child == 0) {
        error_code unchanged = join_groups(target);
        if (!unchanged)
            unchanged = become(target);
        ::_exit((unchanged ? unchanged : look()).value()); // errno's values are below 256.
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return last_system_error();
    return {WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD, boost::system::system_category()};
}

error_code obstacle_to_writing(std::string const& path)
{
    struct stat about
    {
    };
    if (::lstat(path.c_str(), &about) == 0) {
        if (S_ISLNK(about.st_mode))
            return make_error_code(boost::system::errc::too_many_symbolic_link_levels);
        if (S_ISDIR(about.st_mode))
            return make_error_code(boost::system::errc::is_a_directory);
        if (S_ISREG(about.st_mode) && about.st_nlink > 1)
            return make_error_code(boost::system::errc::too_many_links);
        return may(path, W_OK);
    }
    if (errno != ENOENT)
        return last_system_error();
    return may(std::filesystem::path{path}.parent_path(), W_OK | X_OK);
}

void hold_standard_descriptors() noexcept
{
    int fd = STDIN_FILENO;
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = ::open("/dev/null", O_RDWR); // NOLINT: a program that is executed may have it too.
    if (fd >= 0)
        ::close(fd);
}

void keep_heap() noexcept
{
    constexpr int kept_at_top = 4 * 1024 * 1024;  // Of each worker, also after malloc_trim.
    constexpr int mapped_from = 32 * 1024 * 1024; // The most that glibc takes.
    static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kept_at_top));
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, mapped_from));
}

result<background> background::leave()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return last_system_error();
    unique_fd from_daemon{ends[0]};
    unique_fd to_parent{ends[1]};
    pid_t const child = ::fork();
    if (child < 0)
        return last_system_error();
    if (child > 0) {
        to_parent.reset();
        char word = 0;
        if (::read(from_daemon.get(), &word, 1) == 1)
            ::_exit(EXIT_SUCCESS);
        // The daemon ended without success, and has written why to this terminal.
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EXIT_FAILURE);
    }
    ::setsid();
    background made;
    made.parent_ = std::move(to_parent);
    made.null_.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
    return made;
}

void background::succeeded() noexcept
{
    if (!parent_)
        return;
    if (null_)
        for (int const standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            ::dup2(null_.get(), standard);
    null_.reset();
    // A file system with a process in it cannot be unmounted. A reload comes back here, where the
    // user that cleat has become may.
    if (::faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS) == 0)
        static_cast<void>(::chdir("/") == 0);
    char const word = '\n';
    static_cast<void>(!::write(parent_.get(), &word, 1));
    parent_.reset();
}

pid_file::~pid_file()
{
    if (path_.empty() || !is_ours())
        return;
    if (::unlink(path_.c_str()) != 0)
        static_cast<void>(!::ftruncate(fd_.get(), 0)); // An empty one names no other process.
}

// Another process may have been given the same file since, and have written its number into it.
bool pid_file::is_ours() const noexcept
{
    return number_in(fd_.get()) == ::getpid();
}

pid_t pid_file::holder(std::string const& path)
{
    unique_fd const fd{
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};
    if (!fd || !is_pid_file(fd.get()))
        return 0;
    pid_t const number = number_in(fd.get());
    // Our own number does not count: a container begins at the same number each time, and its files
    // may outlive it.
    return number > 0 && number != ::getpid() && runs_our_program(number) ? number : 0;
}

result<pid_file> pid_file::write(std::string path)
{
    unique_fd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0644)};
    if (!fd)
        return last_system_error();
    if (!is_pid_file(fd.get()))
        return make_error_code(boost::system::errc::file_exists);
    // The number first, then the end: two processes that start at once leave one of their numbers,
    // whole. A lock would do that too, but any user who may read the file could hold it and keep
    // cleat from starting. A process that comes later finds the file's holder.
    std::string const text = fmt::format("{}\n", ::getpid());
    if (::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ::ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0)
        return last_system_error();
    pid_file made;
    made.path_ = std::move(path);
    made.fd_ = std::move(fd);
    return made;
}

error_code pid_file::obstacle(std::string const& path)
{
    error_code const ec = obstacle_to_writing(path);
    if (ec == boost::system::errc::too_many_links)
        return make_error_code(boost::system::errc::file_exists);
    struct stat about
    {
    };
    if (ec || ::lstat(path.c_str(), &about) != 0)
        return ec;
    if (!S_ISREG(about.st_mode)) // Not opened: that may make a device begin to work.
        return make_error_code(boost::system::errc::file_exists);
    unique_fd const fd{
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};
    if (!fd)
        return last_system_error();
    return is_pid_file(fd.get()) ? error_code{} : make_error_code(boost::system::errc::file_exists);
}

signals::signals()
{
    sigset_t all;
    ::sigemptyset(&all);
    for (int const s : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2})
        ::sigaddset(&all, s);
    if (::pthread_sigmask(SIG_BLOCK, &all, nullptr) != 0)
        throw std::system_error{errno, std::system_category(), "pthread_sigmask"};
    fd_.reset(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_)
        throw std::system_error{errno, std::system_category(), "signalfd"};
    ::signal(SIGPIPE, SIG_IGN); // NOLINT: writing to a closed connection gives an error code.
    // The opener may be a child, and its end is seen by its channels: it is to leave no zombie.
    ::signal(SIGCHLD, SIG_IGN); // NOLINT
}

int signals::next() noexcept
{
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info)
        return 0;
    return static_cast<int>(info.ssi_signo);
}

} // namespace cleat::app
