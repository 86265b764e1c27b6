// process: what the program is to the system: its user, its pid file, its daemon, its signals.

#pragma once

#include "config/config.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <cstddef>
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

/// become changes user, group and supplementary groups for good.
[[nodiscard]] error_code become(identity const& who) noexcept;

/// hold_standard_descriptors opens /dev/null for each of 0, 1 and 2 that the program was started
/// without: whatever is opened first would take their numbers, and be written to as if it were
/// them.
void hold_standard_descriptors() noexcept;

/// obstacle_to_writing is why a file could not be written to now, or made where it is not there, as
/// far as that is seen without doing it: too_many_symbolic_link_levels for a symbolic link,
/// too_many_links for a file that has another name too, or the system's.
[[nodiscard]] error_code obstacle_to_writing(std::string const& path);

/// keep_heap tells the allocator not to give the heap's top back to the kernel each time a record's
/// buffer is freed: it is wanted again by the next record, page faults and all.
void keep_heap() noexcept;

/// background is the daemon's half of the program, or nothing to do where there is none.
class background
{
public:
    /// leave makes this process a daemon; the process that was started waits for succeeded, and
    /// takes the exit code of what did not. Call it before there are threads.
    [[nodiscard]] static result<background> leave();

    background() noexcept = default;

    /// succeeded lets the process that was started end with exit code 0, and lets go of its
    /// terminal.
    void succeeded() noexcept;

private:
    unique_fd parent_;
};

/// pid_file names this process while it lives.
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

    /// holder is another process of this program that the file names, or 0: then the file is not
    /// there, left over, or no pid file.
    [[nodiscard]] static pid_t holder(std::string const& path);

    /// write makes the file, or replaces the number in one that is there. Whatever else has its
    /// name is left as it is: too_many_symbolic_link_levels for a symbolic link, file_exists for
    /// the rest.
    [[nodiscard]] static result<pid_file> write(std::string path);

    /// obstacle is what write would fail with, as far as that is seen without making a file.
    [[nodiscard]] static error_code obstacle(std::string const& path);

private:
    [[nodiscard]] bool is_ours() const noexcept;

    std::string path_;
    unique_fd fd_; // To empty it where its folder is not ours any more.
};

/// signals are the ones that the program acts on, as a descriptor to wait for.
class signals
{
public:
    /// Blocks them, so that threads made later never see them. Throws std::system_error.
    signals();

    [[nodiscard]] int native_handle() const noexcept { return fd_.get(); }

    /// next is the signal that has come, or 0.
    [[nodiscard]] int next() noexcept;

private:
    unique_fd fd_;
};

} // namespace cleat::app
