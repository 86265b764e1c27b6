// log_sink: where the lines of the log go: a file descriptor, a file or the system's log daemon.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace cleat {

/// syslog_facility is the facility of that name ("daemon", "local0", ...) as <syslog.h> numbers it.
[[nodiscard]] std::optional<int> syslog_facility(std::string_view name) noexcept;

/// log_sink takes whole lines from any thread, each with one system call, so lines never mix and no
/// lock is needed. A line that cannot be written is counted and forgotten: a full disk must not
/// stop the traffic. It stays where it was made and outlives every logger that points to it.
class log_sink
{
public:
    /// to_descriptor writes to fd, which the caller keeps open: 2 for stderr. The process ignores
    /// SIGPIPE.
    [[nodiscard]] static std::unique_ptr<log_sink> to_descriptor(int fd);

    /// to_file appends to the file, making it (mode 0640) when it is not there. /dev/stdout and
    /// /dev/stderr are the descriptors 1 and 2, as they are now.
    ///
    /// Whoever can write the folder may be somebody else than us. So a symbolic link is not
    /// followed, and a file that has another name too is not written to:
    /// too_many_symbolic_link_levels, too_many_links. Any other failure is the system's.
    [[nodiscard]] static result<std::unique_ptr<log_sink>> to_file(std::string path);

    /// is_standard is whether to_file takes a path for one of these two descriptors.
    [[nodiscard]] static bool is_standard(std::string_view path) noexcept;

    /// to_syslog sends datagrams to the log daemon, as program `ident`. It speaks to the socket
    /// itself, because libc's syslog() takes a lock that all workers would share, and allocates.
    /// The daemon stamps the time. The system's error when nobody listens there.
    [[nodiscard]] static result<std::unique_ptr<log_sink>> to_syslog(
        std::string ident, int facility, std::string socket_path = "/dev/log");

    log_sink(log_sink&&) = delete;

    /// give_to makes the file another's, who can open it again then. Only a file that to_file has
    /// made is given away: one that was there before may be what somebody wishes to have.
    void give_to(uid_t user, gid_t group) noexcept;

    /// reopen opens the file anew under its name, for log rotation; the other sinks have nothing to
    /// do. Any thread, while others write: each line lands in the old file or the new one. On an
    /// error the old file stays.
    [[nodiscard]] error_code reopen() noexcept;

    /// write sends one whole line, and says whether all of it went. It never waits for a reader: a
    /// line that finds a pipe, a terminal, a socket or the log daemon full is lost. A file may
    /// block, as it does for everyone.
    bool write(std::string_view line) noexcept;

    /// lines_lost is how many lines could not be written, or not completely.
    [[nodiscard]] std::uint64_t lines_lost() const noexcept
    {
        return lines_lost_.load(std::memory_order_relaxed);
    }

    /// take_untold is how many of them no line has told of yet; none after that.
    [[nodiscard]] std::uint64_t take_untold() noexcept
    {
        return untold_.load(std::memory_order_relaxed) == 0
                   ? 0
                   : untold_.exchange(0, std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_syslog() const noexcept { return kind_ == kind::syslog; }
    [[nodiscard]] int facility() const noexcept { return facility_; }
    [[nodiscard]] std::string_view ident() const noexcept { return ident_; }

private:
    enum class kind : std::uint8_t
    {
        descriptor,
        file,
        syslog
    };

    log_sink(kind k, int fd, unique_fd owned, std::string path);

    [[nodiscard]] error_code connect_to_syslog() const noexcept;
    [[nodiscard]] std::ptrdiff_t send(std::string_view line) const noexcept;

    kind kind_;
    int fd_; // Where write goes. Its number never changes: reopen replaces what is behind it.
    unique_fd owned_; // fd_ again, where it is ours to close.
    std::string path_;
    std::string ident_;
    int facility_ = 0;
    bool has_reader_ = false; // Somebody has to take what is written: it is no file.
    bool is_new_ = false;     // The file was not there before.
    std::atomic<std::uint64_t> lines_lost_{0};
    std::atomic<std::uint64_t> untold_{0};
};

} // namespace cleat
