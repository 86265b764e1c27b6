// process: the program's user, pid file, daemon, signals and standard descriptors.

#pragma once

#include "config/config.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace cleat::app {

/// identity is the user and group to become.
struct identity
{
    std::string user;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// find_identity looks up the settings' user and group; empty when there is nothing to change. A
/// name that does not exist is a problem.
[[nodiscard]] std::optional<identity> find_identity(
    config const& settings, std::vector<problem>& problems);

/// join_groups changes the group and the supplementary groups, and become the user; both for good.
/// Call join_groups first: it needs /etc/group, which a chroot may hide, and root's rights.
[[nodiscard]] error_code join_groups(identity const& target) noexcept;
[[nodiscard]] error_code become(identity const& target) noexcept;

/// run_as is the result of `look` in a child process that has become the target: a system error, or
/// none. Call it while the process has one thread.
[[nodiscard]] error_code run_as(identity const& target, std::function<error_code()> const& look);

/// change_root makes a folder the root of the file system, and the working folder, for good.
[[nodiscard]] error_code change_root(std::string const& folder) noexcept;

/// hold_standard_descriptors opens /dev/null for each of the descriptors 0, 1 and 2 that the
/// program was started without. Otherwise the first files that it opens would take these numbers,
/// and get the text that is meant for the terminal.
void hold_standard_descriptors() noexcept;

/// obstacle_to_writing is the reason why a file cannot be written to, or created if it does not
/// exist: too_many_symbolic_link_levels for a symbolic link, too_many_links for a file with another
/// name (a hard link), else the system's error. It neither writes nor creates the file, so it may
/// miss a reason.
[[nodiscard]] error_code obstacle_to_writing(std::string const& path);

/// keep_heap makes the allocator keep the top of the heap when a record's buffer is freed.
/// Otherwise the kernel would get it back, and the next record would pay page faults for it.
void keep_heap() noexcept;

/// background is a daemon's connection to the process that the user started, which waits until the
/// daemon is ready to serve. Without a daemon it does nothing.
class background
{
public:
    /// leave makes this process a daemon. The process that the user started waits for succeeded, or
    /// for the daemon's end, and then ends with the daemon's exit code. Call it before threads
    /// start.
    [[nodiscard]] static result<background> leave();

    background() noexcept = default;

    /// succeeded ends the process that the user started, with exit code 0, and gives up its
    /// terminal.
    void succeeded() noexcept;

private:
    unique_fd parent_;
    unique_fd null_; // /dev/null: it may not be there any more when the daemon is ready.
};

/// pid_file is a file with this process's number in it. Its destructor removes the file.
class pid_file
{
public:
    pid_file() noexcept = default;
    pid_file(pid_file&& other) noexcept
        : path_{std::exchange(other.path_, {})}, fd_{std::move(other.fd_)}
    {
    }
    pid_file& operator=(pid_file&&) = delete;
    ~pid_file();

    /// holder is the number in the file, if that is another running process of this program. 0: the
    /// file does not exist, is of a process that has ended, or is no pid file.
    [[nodiscard]] static pid_t holder(std::string const& path);

    /// write creates the file, or replaces the number in an older pid file. Anything else with that
    /// name stays as it is: the error is too_many_symbolic_link_levels for a symbolic link, and
    /// file_exists for the rest.
    [[nodiscard]] static result<pid_file> write(std::string path);

    /// obstacle is the error that write would give, as far as that can be found out without
    /// writing.
    [[nodiscard]] static error_code obstacle(std::string const& path);

private:
    [[nodiscard]] bool is_ours() const noexcept;

    std::string path_;
    unique_fd fd_; // To empty the file, if its folder cannot be written to any more.
};

/// signals are the signals that the program acts on, as a descriptor to wait for.
class signals
{
public:
    /// Blocks them, so that threads made later never see them. Throws std::system_error.
    signals();

    [[nodiscard]] int native_handle() const noexcept { return fd_.get(); }

    /// next is the number of a signal that has come, or 0.
    [[nodiscard]] int next() noexcept;

private:
    unique_fd fd_;
};

} // namespace cleat::app
