#include "log/log_file.hpp"
#include "privileged/trusted_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// As many as the kernel follows (path_resolution(7)).
constexpr int links_followed_max = 40;

constexpr int walking = O_PATH | O_NOFOLLOW | O_CLOEXEC;

// Without waiting: a FIFO's writer may never come.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

struct step_failed
{
    error_code reason;
    std::string refusal;
};

[[noreturn]] void fail_with(int number, std::string refusal)
{
    throw step_failed{error_code{number, boost::system::system_category()}, std::move(refusal)};
}

[[noreturn]] void deny(std::string refusal)
{
    fail_with(EACCES, std::move(refusal));
}

struct stat facts_of(int fd)
{
    struct stat facts = {};
    if (::fstat(fd, &facts) != 0)
        throw step_failed{last_system_error(), {}};
    return facts;
}

// Folders whose owner and mode other programs rely on.
bool is_systems_own(std::string_view path) noexcept
{
    return path == "/" || path == "/tmp" || path == "/var/tmp" || path == "/dev/shm";
}

std::string cure_of(std::string_view folder, std::string_view command)
{
    if (folder == "/")
        return "see who has changed it";
    if (is_systems_own(folder))
        return "move the file to a folder of root's, such as /etc/cleat";
    return fmt::format("{} {}", command, folder);
}

// walk is the way to one file: a folder that has been reached, and the names that are left.
class walk
{
public:
    walk(
        int root, uid_t owner, std::string_view path, std::size_t names_below = 0,
        trusted_paths::visitor visit = {})
        : root_{root}, owner_{owner}, names_below_{names_below}, visit_{std::move(visit)}
    {
        begin_at_root();
        push(path);
    }

    // Follows links, the last one too where `to_the_end`. Where `is_folder`, the last name counts
    // like those before it.
    void run(bool to_the_end, bool is_folder = false)
    {
        while (!names_.empty()) {
            std::string const name = std::move(names_.back());
            names_.pop_back();
            if (name == "..") {
                go_up();
                continue;
            }
            bool const is_last = names_.empty();
            if (is_last && !to_the_end) {
                last_ = name;
                return;
            }
            enter(name, is_last, is_folder);
        }
    }

    void visit(std::string const& name) const
    {
        if (error_code const failed = visit_ ? visit_(folder_.get(), name) : error_code{})
            throw step_failed{failed, {}};
    }

    [[nodiscard]] int folder() const noexcept { return folder_.get(); }
    [[nodiscard]] std::string const& reached() const noexcept { return reached_; }

    // The name of the file in the folder; empty where the path ends with a folder.
    [[nodiscard]] std::string const& last() const noexcept { return last_; }

    void trust_folder(std::string const& path, struct stat const& facts) const
    {
        if (facts.st_uid != owner_)
            deny(fmt::format(
                "the folder {} belongs to user {}, who could exchange what is in it ({})", path,
                facts.st_uid, cure_of(path, "chown root")));
        if ((facts.st_mode & S_ISVTX) != 0 && (facts.st_mode & S_IWOTH) != 0)
            deny(fmt::format(
                "every user may write to the folder {} (move the file to a folder of root's, such "
                "as "
                "/etc/cleat)",
                path));
        if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            deny(fmt::format(
                "other users than root may write to the folder {} ({})", path,
                cure_of(path, "chmod go-w")));
    }

private:
    void begin_at_root()
    {
        folder_.reset(::openat(root_, ".", walking | O_DIRECTORY));
        if (!folder_)
            throw step_failed{last_system_error(), {}};
        reached_.clear();
        trust_folder("/", facts_of(folder_.get()));
    }

    // The names of a path, to be gone to before those that are there.
    void push(std::string_view path)
    {
        std::vector<std::string> more;
        while (!path.empty()) {
            std::size_t const end = std::min(path.find('/'), path.size());
            std::string_view const name = path.substr(0, end);
            path.remove_prefix(std::min(end + 1, path.size()));
            if (!name.empty() && name != ".")
                more.emplace_back(name);
        }
        names_.insert(names_.end(), more.rbegin(), more.rend());
    }

    // The kernel knows what is above a folder; nothing is above the root.
    void go_up()
    {
        struct stat const here = facts_of(folder_.get());
        struct stat const top = facts_of(root_);
        if (here.st_dev == top.st_dev && here.st_ino == top.st_ino)
            return;
        unique_fd above{::openat(folder_.get(), "..", walking | O_DIRECTORY)};
        if (!above)
            throw step_failed{last_system_error(), {}};
        reached_.append("/..");
        trust_folder(reached_, facts_of(above.get()));
        folder_ = std::move(above);
    }

    void enter(std::string const& name, bool is_last, bool is_folder)
    {
        unique_fd next{::openat(folder_.get(), name.c_str(), walking)};
        std::string const path = reached_ + '/' + name;
        if (!next) {
            step_failed const why{last_system_error(), path};
            if (why.reason == boost::system::errc::no_such_file_or_directory)
                visit(name);
            throw why;
        }
        struct stat const facts = facts_of(next.get());
        if (S_ISLNK(facts.st_mode)) {
            bool const is_below = names_.size() < names_below_;
            if (is_below && (is_folder || !is_last))
                deny(fmt::format(
                    "{} is a symbolic link: below a pem-dir only a file may be one", path));
            names_below_ = is_below ? 0 : names_below_; // The link's target is root's choice.
            visit(name);
            return follow(next.get(), path, facts);
        }
        if (S_ISDIR(facts.st_mode)) {
            trust_folder(path, facts);
            folder_ = std::move(next);
            reached_ = path;
            return;
        }
        if (!is_last)
            fail_with(ENOTDIR, path);
        last_ = name;
    }

    void follow(int link, std::string const& path, struct stat const& facts)
    {
        if (facts.st_uid != owner_)
            deny(fmt::format(
                "the symbolic link {} belongs to user {}: only root's links are followed (chown -h "
                "root {})",
                path, facts.st_uid, path));
        if (++links_ > links_followed_max)
            fail_with(ELOOP, path);
        std::array<char, PATH_MAX> target{};
        ssize_t const size = ::readlinkat(link, "", target.data(), target.size());
        if (size < 0)
            throw step_failed{last_system_error(), path};
        if (static_cast<std::size_t>(size) == target.size())
            fail_with(ENAMETOOLONG, path);
        std::string_view const text{target.data(), static_cast<std::size_t>(size)};
        push(text);
        if (text.starts_with('/'))
            begin_at_root();
    }

    int root_;
    uid_t owner_;
    std::size_t names_below_;
    trusted_paths::visitor visit_;
    int links_ = 0;
    unique_fd folder_;
    std::string reached_;            // The folder's path; empty for the root.
    std::vector<std::string> names_; // The next one is the last.
    std::string last_;
};

file_opening failure(step_failed const& why)
{
    return {unique_fd{}, why.reason, why.refusal};
}

// Runs an action that throws step_failed.
template <class Action>
file_opening attempt(Action action)
{
    try {
        return action();
    } catch (step_failed const& why) {
        return failure(why);
    }
}

// The folder is root's, so the name is the same file that the walk has seen.
file_opening open_last(walk const& way)
{
    std::string const path = way.reached() + '/' + way.last();
    if (way.last().empty())
        fail_with(EISDIR, path);
    unique_fd file{::openat(way.folder(), way.last().c_str(), reading)};
    if (!file)
        throw step_failed{last_system_error(), path};
    struct stat const facts = facts_of(file.get());
    if (S_ISDIR(facts.st_mode))
        fail_with(EISDIR, path);
    if (!S_ISREG(facts.st_mode))
        deny(fmt::format("{} is a FIFO, a socket or a device", path));
    return {std::move(file)};
}

} // namespace

file_opening trusted_paths::open_file(std::string const& path, std::size_t names_below) const
{
    return attempt([&] {
        walk way{root_.get(), owner_, path, names_below};
        way.run(true);
        return open_last(way);
    });
}

file_opening trusted_paths::open_own_file(std::string const& path) const
{
    return attempt([&] {
        file_opening opened = open_file(path);
        if (!opened.fd)
            return opened;
        struct stat const facts = facts_of(opened.fd.get());
        if (facts.st_uid != owner_ || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            deny(fmt::format(
                "other users than root may write to {0} (chown root {0} && chmod go-w {0})", path));
        return opened;
    });
}

file_opening trusted_paths::open_folder(std::string const& path, std::size_t names_below) const
{
    return attempt([&]() -> file_opening {
        walk way{root_.get(), owner_, path, names_below};
        way.run(true, true);
        if (!way.last().empty())
            fail_with(ENOTDIR, path);
        unique_fd folder{::openat(way.folder(), ".", reading | O_DIRECTORY)};
        if (!folder)
            throw step_failed{last_system_error(), path};
        return {std::move(folder)};
    });
}

file_opening trusted_paths::follow(
    std::string const& path, std::size_t names_below, bool is_folder, visitor const& visit) const
{
    file_opening made = attempt([&]() -> file_opening {
        walk way{root_.get(), owner_, path, names_below, visit};
        way.run(true, is_folder);
        if (way.last().empty() && !is_folder)
            fail_with(EISDIR, path);
        way.visit(way.last());
        return {};
    });
    if (made.reason == boost::system::errc::no_such_file_or_directory) // It has been visited.
        return {};
    return made;
}

file_opening trusted_paths::open_log(std::string const& path) const
{
    return attempt([&]() -> file_opening {
        walk way{root_.get(), owner_, path};
        way.run(false);
        if (way.last().empty())
            fail_with(EISDIR, path);
        log_file opened = open_log_file(way.folder(), way.last().c_str());
        if (!opened.fd)
            throw step_failed{opened.error, path};
        if (!S_ISREG(facts_of(opened.fd.get()).st_mode))
            deny(fmt::format("{} is a FIFO, a socket or a device", path));
        return {std::move(opened.fd)};
    });
}

} // namespace cleat::app
