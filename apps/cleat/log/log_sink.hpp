// log_sink: the target of log lines: a file descriptor, a file or the system's log daemon.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/file_opener.hpp>
#include <cleat/core/unique_fd.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace cleat::app {

/// syslog_facility_number is the number in <syslog.h> of a facility: "daemon", "local0", ...
[[nodiscard]] std::optional<int> syslog_facility_number(std::string_view name) noexcept;

/// log_sink takes whole lines from any thread, each with one system call, so lines never mix and no
/// lock is needed. A line that cannot be written is counted and dropped: a full disk must not stop
/// the traffic. It cannot be moved, and outlives every logger that points to it.
class log_sink
{
public:
    /// to_descriptor writes to fd, which the caller keeps open: 2 for stderr. The process ignores
    /// SIGPIPE.
    [[nodiscard]] static std::unique_ptr<log_sink> to_descriptor(int fd);

    /// to_file appends to the file, making it (mode 0640) when it is not there. /dev/stdout and
    /// /dev/stderr are copies of the descriptors 1 and 2.
    ///
    /// Another user may have write access to the folder. So a symbolic link is not followed
    /// (too_many_symbolic_link_levels), and a file with a second name (a hard link) is not written
    /// to (too_many_links). Any other failure is the system's.
    ///
    /// The opener is used where the process may not open the file, also by reopen.
    [[nodiscard]] static result<std::unique_ptr<log_sink>> to_file(
        std::string path, file_opener opener = {});

    /// is_standard: the path is /dev/stdout or /dev/stderr.
    [[nodiscard]] static bool is_standard(std::string_view path) noexcept;

    /// to_syslog sends datagrams to the log daemon, as program `ident`. It uses the socket itself,
    /// because libc's syslog() takes a lock that all workers would share, and allocates. The daemon
    /// adds the time. The error is the system's, also where no daemon listens.
    [[nodiscard]] static result<std::unique_ptr<log_sink>> to_syslog(
        std::string ident, int facility, std::string socket_path = "/dev/log");

    /// to_syslog_later is to_syslog where the daemon may start later: a line before that is lost.
    /// The socket cannot be made: an error of the system.
    [[nodiscard]] static result<std::unique_ptr<log_sink>> to_syslog_later(
        std::string ident, int facility, std::string socket_path = "/dev/log");

    /// copy_to makes every line go to `syslog`, too, which to_syslog has made. Call it before a
    /// line is written. A line that only the copy has lost is counted, and no line reports it.
    void copy_to(std::unique_ptr<log_sink> syslog) noexcept { copy_ = std::move(syslog); }
    [[nodiscard]] log_sink* copy() const noexcept { return copy_.get(); }

    log_sink(log_sink&&) = delete;

    /// give_to changes the owner of the file to a user who must open it again later. Only a file
    /// that to_file has created is given away: a file that existed before may be somebody else's.
    void give_to(uid_t user, gid_t group) noexcept;

    /// reopening is why the file could not be opened again, or no error.
    struct reopening
    {
        error_code error{};
        std::string refusal{}; ///< The opener's. Often empty.
    };

    /// reopen opens the file again by its name, after log rotation. Other kinds of sinks do
    /// nothing. Any thread, while others write: each line goes to the old file or the new one. On
    /// an error the old file stays. Throws std::bad_alloc.
    [[nodiscard]] reopening reopen();

    /// open_again is the first half of reopen, for a sink whose writer must know which bytes are in
    /// which file: `file` is then for use. It stays empty after an error, and for other kinds of
    /// sinks. Any thread. Throws std::bad_alloc.
    [[nodiscard]] reopening open_again(unique_fd& file) const;

    /// has: it is the file that the sink writes to.
    [[nodiscard]] bool has(unique_fd const& file) const noexcept;

    /// use writes to a file of open_again from now on. On an error, which is the system's, the old
    /// file stays.
    [[nodiscard]] error_code use(unique_fd const& file) noexcept;

    /// write sends one whole line, and returns whether all of it was written. It never waits for a
    /// reader: a line that finds a pipe, a terminal, a socket or the log daemon full is lost. A
    /// file may block.
    bool write(std::string_view line) noexcept;

    /// try_write is write that does not count a lost line. Where a full disk has taken a part of a
    /// line, the next line begins with a newline.
    bool try_write(std::string_view line) noexcept;

    /// offer writes as many of the lines, each with its newline, as need no waiting for a reader,
    /// and returns how many bytes those are. Fewer than all: errno is the reason. It counts nothing
    /// as lost: the caller keeps the rest, and offers it again. The bytes of a line may be taken in
    /// parts, so no other thread may write to the sink.
    [[nodiscard]] std::size_t offer(std::string_view lines) noexcept;

    /// native_handle is the descriptor, which never changes.
    [[nodiscard]] int native_handle() const noexcept { return fd_; }

    /// lines_lost is how many lines could not be written, or not completely.
    [[nodiscard]] std::uint64_t lines_lost() const noexcept
    {
        return lines_lost_.load(std::memory_order_relaxed) + (copy_ ? copy_->lines_lost() : 0);
    }

    /// set_level makes every logger of this sink write down to another level than its own: a
    /// log_level, or own_levels. Any thread.
    static constexpr int own_levels = -1;
    void set_level(int level) noexcept { level_.store(level, std::memory_order_relaxed); }
    [[nodiscard]] int level() const noexcept { return level_.load(std::memory_order_relaxed); }

    /// take_unreported is how many of them no log line has reported yet. It resets that number.
    [[nodiscard]] std::uint64_t take_unreported() noexcept
    {
        return unreported_.load(std::memory_order_relaxed) == 0
                   ? 0
                   : unreported_.exchange(0, std::memory_order_relaxed);
    }

    /// put_back_unreported: their report was lost, too.
    void put_back_unreported(std::uint64_t lines) noexcept
    {
        unreported_.fetch_add(lines, std::memory_order_relaxed);
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
    [[nodiscard]] std::ptrdiff_t send(
        std::string_view line, bool on_new_line = false) const noexcept;
    [[nodiscard]] std::ptrdiff_t send_or_reconnect(std::string_view line) const noexcept;
    [[nodiscard]] bool write_after_torn_line(std::string_view line) noexcept;

    kind kind_;
    int fd_;          // The number never changes: reopen replaces the file that it refers to.
    unique_fd owned_; // fd_ again, where we must close it.
    std::string path_;
    file_opener opener_;
    std::unique_ptr<log_sink> copy_; // Null: there is none.
    std::string ident_;
    int facility_ = 0;
    bool has_reader_ = false;       // Not a file: a reader must take the bytes.
    bool is_new_ = false;           // to_file created the file.
    std::atomic<bool> torn_{false}; // A part of the last line is written.
    std::atomic<int> level_{own_levels};
    std::atomic<std::uint64_t> lines_lost_{0};
    std::atomic<std::uint64_t> unreported_{0};
};

} // namespace cleat::app
