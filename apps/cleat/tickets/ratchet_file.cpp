#include "tickets/ratchet_file.hpp"
#include "tickets/ratchet_text.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/core/write_whole.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr std::string_view cure_of_place =
    "cleat replaces the file at the end of each epoch: put it into a folder that cleat's user can "
    "write, such as one in /var/lib, and not into a read-only volume.";

constexpr std::string_view cure_of_mount =
    "Mount its folder instead of the file: without subPath in Kubernetes, and with the path of the "
    "folder in --volume of podman and docker.";

constexpr std::string_view cure_of_folder =
    "Take that right away with chmod o-w, or put the file into a folder of cleat's user, such as "
    "one in /var/lib.";

constexpr std::string_view cure_of_left_over =
    "Remove it, and put the file into a folder that no other user can write.";

file_rewriting not_rewritten(std::string text, std::string_view cure)
{
    return {.done = false, .text = std::move(text), .cure = std::string{cure}};
}

bool is_lack_of_rights(error_code ec) noexcept
{
    return ec == boost::system::errc::permission_denied ||
           ec == boost::system::errc::operation_not_permitted;
}

file_rewriting failed_step(
    std::string_view step, std::string const& name, error_code ec = last_system_error())
{
    file_rewriting outcome =
        not_rewritten(fmt::format("cannot {} {}: {}", step, name, ec.message()), cure_of_place);
    outcome.is_denied = is_lack_of_rights(ec);
    return outcome;
}

file_rewriting busy(std::string text, std::string_view cure)
{
    return {.done = false, .is_busy = true, .text = std::move(text), .cure = std::string{cure}};
}

file_rewriting edited(std::string const& path)
{
    return busy(
        fmt::format("another process has just changed {}", path),
        "Let only cleat and an editor change the file.");
}

bool is_same_inode(struct stat const& one, struct stat const& other) noexcept
{
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_unchanged(struct stat const& one, struct stat const& other) noexcept
{
    return is_same_inode(one, other) && one.st_size == other.st_size &&
           one.st_mtim.tv_sec == other.st_mtim.tv_sec &&
           one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

bool lock(int fd) noexcept
{
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

std::string folder_around(std::string const& path)
{
    std::string const folder = std::filesystem::path{path}.parent_path().string();
    return folder.empty() ? "." : folder;
}

error_code sync_folder(std::string const& path)
{
    unique_fd const opened{::open(folder_around(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return opened && ::fsync(opened.get()) == 0 ? error_code{} : last_system_error();
}

// A file cannot be renamed to a mount point (EBUSY), and only the rename would find that out.
bool is_mount_point(std::string const& path) noexcept
{
    struct statx about = {};
    return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &about) == 0 &&
           (about.stx_attributes & about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Unset: no other user may replace files there. With the sticky bit each user may replace its own.
std::optional<file_rewriting> look_at_folder(std::string const& path)
{
    std::string const folder = folder_around(path);
    struct stat about = {};
    if (::stat(folder.c_str(), &about) != 0)
        return failed_step("read", folder);
    if ((about.st_mode & S_IWOTH) == 0 || (about.st_mode & S_ISVTX) != 0)
        return {};
    file_rewriting outcome = not_rewritten(
        fmt::format("every user of this machine may replace files in {}", folder), cure_of_folder);
    outcome.is_unsafe = true;
    return outcome;
}

// The new file beside the old one. Its lock is held by the process that may rename or remove it.
class next_file
{
public:
    explicit next_file(std::string const& path) : path_{path}, name_{path + ".next"} {}

    // Unset: it is made and locked, and has the mode and the owner of the old file.
    std::optional<file_rewriting> make()
    {
        if (::lstat(path_.c_str(), &old_) != 0)
            return failed_step("read", path_);
        if (S_ISLNK(old_.st_mode))
            return not_rewritten(
                fmt::format("cannot replace {}, which is a symbolic link", path_), cure_of_place);
        if (is_mount_point(path_))
            return not_rewritten(
                fmt::format("cannot replace {}, which is a mount point", path_), cure_of_mount);
        if (std::optional<file_rewriting> refused = look_at_folder(path_))
            return refused;
        if (std::optional<file_rewriting> refused = create_locked())
            return refused;
        return take_owner();
    }

    file_rewriting replace(std::string_view text)
    {
        error_code failure_of_step = write_whole(fd_.get(), text);
        if (!failure_of_step && ::fsync(fd_.get()) != 0)
            failure_of_step = last_system_error();
        if (failure_of_step)
            return remove_after(failed_step("write", name_, failure_of_step));
        struct stat now = {};
        if (::lstat(path_.c_str(), &now) != 0 || !is_unchanged(old_, now))
            return remove_after(edited(path_));
        if (::rename(name_.c_str(), path_.c_str()) != 0)
            return remove_after(failed_step("replace", path_));
        if (error_code const ec = sync_folder(path_))
            return failed_step("synchronize the folder of", path_, ec);
        return {};
    }

    void remove() const noexcept { static_cast<void>(::unlink(name_.c_str())); }

    // The old file, as make has found it.
    [[nodiscard]] struct stat const& old() const noexcept { return old_; }

private:
    file_rewriting remove_after(file_rewriting outcome) const
    {
        remove();
        return outcome;
    }

    // A file that exists is never written: another user may have it open.
    [[nodiscard]] bool create() noexcept
    {
        fd_.reset(::open(
            name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
        return fd_.get() >= 0;
    }

    std::optional<file_rewriting> create_locked()
    {
        if (!create() && errno == EEXIST) {
            if (std::optional<file_rewriting> refused = remove_left_over())
                return refused;
            if (!create() && errno == EEXIST)
                return locked(); // Another process was faster.
        }
        if (!fd_)
            return failed_step("make", name_);
        std::optional<file_rewriting> refused = lock_named(fd_.get());
        if (refused && !refused->is_busy)
            remove();
        return refused;
    }

    // By a process that was killed: one that is alive has the lock.
    std::optional<file_rewriting> remove_left_over() const
    {
        struct stat found = {};
        if (::lstat(name_.c_str(), &found) != 0)
            return locked(); // It was there a moment ago.
        if (!S_ISREG(found.st_mode))
            return not_rewritten(
                fmt::format("cannot make {}: it exists, and is no regular file", name_),
                cure_of_left_over);
        if (found.st_uid != ::geteuid() && found.st_uid != old_.st_uid)
            return not_rewritten(
                fmt::format(
                    "cannot make {}: it exists, and belongs to user {}", name_, found.st_uid),
                cure_of_left_over);
        unique_fd const opened = open_left_over();
        if (!opened)
            return failed_step("make", name_);
        if (std::optional<file_rewriting> refused = lock_named(opened.get()))
            return refused;
        if (::unlink(name_.c_str()) != 0)
            return failed_step("remove", name_);
        return {};
    }

    // A lock wants the right to write, and the mode may be the old file's.
    [[nodiscard]] unique_fd open_left_over() const noexcept
    {
        constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        unique_fd opened{::open(name_.c_str(), O_RDWR | flags)};
        if (!opened && errno == EACCES) {
            unique_fd const reading{::open(name_.c_str(), O_RDONLY | flags)};
            if (reading && ::fchmod(reading.get(), S_IRUSR | S_IWUSR) == 0)
                opened.reset(::open(name_.c_str(), O_RDWR | flags));
        }
        return opened;
    }

    // Unset: this process has the lock, and the file still has the name.
    [[nodiscard]] std::optional<file_rewriting> lock_named(int fd) const
    {
        struct stat opened = {};
        struct stat named = {};
        if (!lock(fd))
            return errno == EAGAIN || errno == EACCES ? locked() : failed_step("lock", name_);
        if (::fstat(fd, &opened) != 0)
            return failed_step("read", name_);
        if (::lstat(name_.c_str(), &named) != 0 || !is_same_inode(opened, named))
            return locked(); // It was, until a moment ago.
        return {};
    }

    [[nodiscard]] file_rewriting locked() const
    {
        return busy(
            fmt::format("another process holds the lock of {}", name_),
            "Find that process with \"lslocks\", and end it if it is no cleat that has just begun "
            "to write.");
    }

    std::optional<file_rewriting> take_owner()
    {
        struct stat made = {};
        bool done = ::fstat(fd_.get(), &made) == 0;
        if (done && (made.st_uid != old_.st_uid || made.st_gid != old_.st_gid))
            done = ::fchown(fd_.get(), old_.st_uid, old_.st_gid) == 0;
        if (done && ::fchmod(fd_.get(), old_.st_mode & 07777) == 0)
            return {};
        error_code const ec = last_system_error();
        file_rewriting outcome = not_rewritten(
            fmt::format("cannot give {} the owner and mode of {}: {}", name_, path_, ec.message()),
            "Let cleat's user own the file.");
        outcome.is_denied = is_lack_of_rights(ec);
        return remove_after(std::move(outcome));
    }

    std::string const& path_;
    std::string name_;
    unique_fd fd_;
    struct stat old_ = {};
};

// Where the file is still the one that was found before it was read.
file_rewriting replace_with(
    std::string const& path, struct stat const& before, std::string_view text)
{
    next_file made{path};
    if (std::optional<file_rewriting> const refused = made.make())
        return *refused;
    if (!is_unchanged(before, made.old())) {
        made.remove();
        return edited(path);
    }
    return made.replace(text);
}

} // namespace

file_rewriting rewrite_ratchets(
    std::string const& path, std::chrono::seconds rotation, std::int64_t epoch)
{
    struct stat before = {};
    static_cast<void>(::lstat(path.c_str(), &before));
    tls::file_text const text = tls::read_file(path, {}, limits::ticket_secret_file_max);
    if (text.fault != tls::file_fault::none)
        return not_rewritten(tls::description(text, path), tls::cure(text));
    advanced_ratchets const next = advance_ratchets(text.text.view(), rotation, epoch);
    if (next.text) {
        file_rewriting outcome = replace_with(path, before, next.text->view());
        if (!outcome.done)
            return outcome;
    }
    if (next.fault)
        return not_rewritten(
            fmt::format("{}:{}: {}", path, next.fault->line, next.fault->text), next.fault->cure);
    return {};
}

file_rewriting prove_rewriting(std::string const& path)
{
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
        return failed_step("read", path);
    next_file made{path};
    std::optional<file_rewriting> const refused = made.make();
    if (!refused)
        made.remove();
    if (!refused || refused->is_busy) // Another process proves it.
        return {};
    return *refused;
}

} // namespace cleat::app
