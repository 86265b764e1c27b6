#include "log/log_file.hpp"
#include "log/log_sink.hpp"

#include <boost/system/errc.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// Opens the file itself, or where it may not, by the opener.
log_file open_log_or_ask(std::string const& path, file_opener const& opener, std::string& refusal)
{
    log_file opened = open_log_file(AT_FDCWD, path.c_str());
    if (opened.fd || !is_denied(opened.error) || !opener)
        return opened;
    file_opening other = opener(path);
    refusal = std::move(other.refusal);
    return {std::move(other.fd), false, other.reason};
}

// The standard descriptors by their names in /dev, which are symbolic links; -1 for other names.
int standard_descriptor(std::string_view path) noexcept
{
    if (path == "/dev/stdout")
        return STDOUT_FILENO;
    return path == "/dev/stderr" ? STDERR_FILENO : -1;
}

bool needs_a_reader(int fd) noexcept
{
    struct stat about
    {
    };
    return ::fstat(fd, &about) == 0 && !S_ISREG(about.st_mode);
}

using pieces = std::span<iovec const>;

iovec piece_of(std::string_view text) noexcept
{
    return {const_cast<char*>(text.data()), text.size()};
}

// Writes a line where that need not wait. A line is shorter than PIPE_BUF: a pipe takes it whole or
// not at all.
ssize_t write_if_taken(int fd, pieces line) noexcept
{
    int const count = static_cast<int>(line.size());
    ssize_t const n = ::pwritev2(fd, line.data(), count, -1, RWF_NOWAIT);
    if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL && errno != ESPIPE))
        return n;
    // Some descriptors do not support RWF_NOWAIT: poll them first. If another writer fills one in
    // between, this write waits for the reader.
    pollfd room{fd, POLLOUT, 0};
    if (::poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return ::writev(fd, line.data(), count);
}

bool are_one_file(int one, int other) noexcept
{
    struct stat first
    {
    };
    struct stat second
    {
    };
    return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
           first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

struct facility_name
{
    std::string_view name;
    int facility;
};

// hitch's and stud's names. Their "auth" means LOG_AUTHPRIV, and so does ours.
constexpr std::array facility_names = std::to_array<facility_name>({
    {"auth", LOG_AUTHPRIV},
    {"authpriv", LOG_AUTHPRIV},
    {"cron", LOG_CRON},
    {"daemon", LOG_DAEMON},
    {"ftp", LOG_FTP},
    {"local0", LOG_LOCAL0},
    {"local1", LOG_LOCAL1},
    {"local2", LOG_LOCAL2},
    {"local3", LOG_LOCAL3},
    {"local4", LOG_LOCAL4},
    {"local5", LOG_LOCAL5},
    {"local6", LOG_LOCAL6},
    {"local7", LOG_LOCAL7},
    {"lpr", LOG_LPR},
    {"mail", LOG_MAIL},
    {"news", LOG_NEWS},
    {"user", LOG_USER},
    {"uucp", LOG_UUCP},
});

} // namespace

std::optional<int> syslog_facility_number(std::string_view name) noexcept
{
    for (facility_name const& each : facility_names)
        if (each.name == name)
            return each.facility;
    return std::nullopt;
}

log_sink::log_sink(kind k, int fd, unique_fd owned, std::string path)
    : kind_{k}
    , fd_{fd}
    , owned_{std::move(owned)}
    , path_{std::move(path)}
    , has_reader_{needs_a_reader(fd)}
{
}

std::unique_ptr<log_sink> log_sink::to_descriptor(int fd)
{
    return std::unique_ptr<log_sink>{new log_sink{kind::descriptor, fd, unique_fd{}, {}}};
}

result<std::unique_ptr<log_sink>> log_sink::to_file(std::string path, file_opener opener)
{
    if (int const standard = standard_descriptor(path); standard >= 0) {
        unique_fd copy{::fcntl(standard, F_DUPFD_CLOEXEC, 0)}; // A daemon closes the original.
        if (!copy)
            return last_system_error();
        int const fd = copy.get();
        return std::unique_ptr<log_sink>{
            new log_sink{kind::descriptor, fd, std::move(copy), std::move(path)}};
    }
    std::string refusal;
    log_file file = open_log_or_ask(path, opener, refusal);
    if (!file.fd)
        return file.error;
    int const fd = file.fd.get();
    std::unique_ptr<log_sink> sink{
        new log_sink{kind::file, fd, std::move(file.fd), std::move(path)}};
    sink->is_new_ = file.is_new;
    sink->opener_ = std::move(opener);
    return sink;
}

bool log_sink::is_standard(std::string_view path) noexcept
{
    return standard_descriptor(path) >= 0;
}

void log_sink::give_to(uid_t user, gid_t group) noexcept
{
    if (is_new_)
        static_cast<void>(!::fchown(fd_, user, group)); // Fails without root's rights.
}

result<std::unique_ptr<log_sink>> log_sink::to_syslog_later(
    std::string ident, int facility, std::string socket_path)
{
    unique_fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket)
        return last_system_error();
    int const fd = socket.get();
    std::unique_ptr<log_sink> sink{
        new log_sink{kind::syslog, fd, std::move(socket), std::move(socket_path)}};
    sink->ident_ = std::move(ident);
    sink->facility_ = facility;
    return sink;
}

result<std::unique_ptr<log_sink>> log_sink::to_syslog(
    std::string ident, int facility, std::string socket_path)
{
    result<std::unique_ptr<log_sink>> sink =
        to_syslog_later(std::move(ident), facility, std::move(socket_path));
    if (!sink)
        return sink;
    if (error_code const ec = (*sink)->connect_to_syslog())
        return ec;
    return sink;
}

error_code log_sink::connect_to_syslog() const noexcept
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path)
        return make_error_code(boost::system::errc::filename_too_long);
    std::memcpy(static_cast<char*>(address.sun_path), path_.data(), path_.size());
    if (::connect(fd_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
        return last_system_error();
    return {};
}

log_sink::reopening log_sink::reopen()
{
    unique_fd file;
    reopening opened = open_again(file);
    if (!file)
        return opened;
    return {use(file), {}};
}

log_sink::reopening log_sink::open_again(unique_fd& file) const
{
    if (kind_ != kind::file)
        return {};
    std::string refusal;
    log_file opened = open_log_or_ask(path_, opener_, refusal);
    if (!opened.fd)
        return {opened.error, std::move(refusal)};
    file = std::move(opened.fd);
    return {};
}

bool log_sink::has(unique_fd const& file) const noexcept
{
    return are_one_file(file.get(), fd_);
}

error_code log_sink::use(unique_fd const& file) noexcept
{
    bool const is_other = !has(file);
    // dup3 exchanges the file of the number in one step, so no writer ever sees it closed.
    if (::dup3(file.get(), fd_, O_CLOEXEC) < 0)
        return last_system_error();
    if (is_other)
        torn_ = false; // The part of a line is in the old one.
    return {};
}

std::ptrdiff_t log_sink::send(std::string_view line, bool on_new_line) const noexcept
{
    std::array<iovec, 2> const all{piece_of("\n"), piece_of(line)};
    pieces const used = pieces{all}.subspan(on_new_line ? 0 : 1);
    ssize_t n = -1;
    do {
        if (kind_ == kind::syslog)
            n = ::send(fd_, line.data(), line.size(), MSG_NOSIGNAL);
        else if (has_reader_)
            n = write_if_taken(fd_, used);
        else
            n = ::writev(fd_, used.data(), static_cast<int>(used.size()));
    } while (n < 0 && errno == EINTR);
    return n;
}

// The log daemon may have been restarted: its new socket has the same name.
std::ptrdiff_t log_sink::send_or_reconnect(std::string_view line) const noexcept
{
    std::ptrdiff_t const n = send(line);
    if (n < 0 && kind_ == kind::syslog && (errno == ECONNREFUSED || errno == ENOTCONN) &&
        !connect_to_syslog())
        return send(line);
    return n;
}

bool log_sink::try_write(std::string_view line) noexcept
{
    if (torn_)
        return write_after_torn_line(line);
    std::ptrdiff_t const n = send_or_reconnect(line);
    if (n >= 0 && static_cast<std::size_t>(n) == line.size())
        return true;
    if (n > 0 && kind_ != kind::syslog)
        torn_ = true;
    return false;
}

// In one call: no other thread's line comes between. Until the newline is written, other threads
// begin with one, too: an empty line does no harm, but a line that is glued to the torn one is
// lost.
bool log_sink::write_after_torn_line(std::string_view line) noexcept
{
    std::ptrdiff_t const n = send(line, true);
    bool const is_whole = n > 0 && static_cast<std::size_t>(n) == line.size() + 1;
    if (is_whole || n == 1) // 1: the newline is written, and nothing of the line.
        torn_ = false;
    return is_whole;
}

bool log_sink::write(std::string_view line) noexcept
{
    if (try_write(line))
        return true;
    lines_lost_.fetch_add(1, std::memory_order_relaxed);
    unreported_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

std::size_t log_sink::offer(std::string_view lines) noexcept
{
    std::size_t taken = 0;
    while (taken != lines.size()) {
        std::string_view const left = lines.substr(taken);
        std::size_t const line_size = left.find('\n') + 1;
        if (kind_ == kind::syslog) { // A datagram for each, without the newline.
            if (send_or_reconnect(left.substr(0, line_size - 1)) < 0)
                break;
            taken += line_size;
            continue;
        }
        // A reader's descriptor is asked whether it has room for so much at least.
        std::ptrdiff_t const n = send(has_reader_ ? left.substr(0, line_size) : left);
        if (n < 0)
            break;
        if (n == 0) { // A device that takes nothing: errno says nothing.
            errno = ENOSPC;
            break;
        }
        taken += static_cast<std::size_t>(n);
    }
    return taken;
}

} // namespace cleat::app
