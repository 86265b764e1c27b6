#include "core/failure.hpp"
#include "store/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace statsync {
namespace {

namespace fs = std::filesystem;

/// open_file: a file descriptor that closes itself.
class open_file
{
public:
    explicit open_file(int descriptor) : descriptor_(descriptor) {}
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file()
    {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    int get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }

private:
    int descriptor_;
};

[[noreturn]] void cannot(problem kind, std::string const& verb, fs::path const& path)
{
    throw failure(kind, "cannot " + verb + " " + path.string() + ": " + std::strerror(errno));
}

/// unfinished_file: a file beside another one, which goes away unless it takes its place.
class unfinished_file
{
public:
    explicit unfinished_file(fs::path const& target) : name_(target.string() + ".XXXXXX")
    {
        descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
        if (descriptor_ < 0) {
            cannot(problem::unwritten, "write beside", target);
        }
    }
    unfinished_file(unfinished_file const&) = delete;
    unfinished_file& operator=(unfinished_file const&) = delete;
    ~unfinished_file()
    {
        ::close(descriptor_);
        if (!is_renamed_) {
            ::unlink(name_.c_str());
        }
    }

    void write(std::string_view content)
    {
        while (!content.empty()) {
            ssize_t const written = ::write(descriptor_, content.data(), content.size());
            if (written < 0 && errno != EINTR) {
                cannot(problem::unwritten, "write", name_);
            }
            content.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
        }
    }

    /// resemble takes over owner, mode and attributes. A user who may not give the file away keeps
    /// the group at least, or else nothing.
    void resemble(fs::path const& original, unsigned new_mode)
    {
        struct stat old
        {
        };
        if (::stat(original.c_str(), &old) != 0) {
            require(::fchmod(descriptor_, new_mode));
            return;
        }
        if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0) {
            [[maybe_unused]] int const ignored =
                ::fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid);
        }
        require(::fchmod(descriptor_, old.st_mode & 07777));
        copy_attributes(original);
    }

    void rename_over(fs::path const& target)
    {
        require(::fsync(descriptor_));
        require(::rename(name_.c_str(), target.c_str()));
        is_renamed_ = true;
        open_file const folder(
            ::open(target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder) {
            ::fsync(folder.get());
        }
    }

private:
    void require(int result) const
    {
        if (result != 0) {
            cannot(problem::unwritten, "write", name_);
        }
    }

    void copy_attributes(fs::path const& original) const
    {
        ssize_t const size = ::listxattr(original.c_str(), nullptr, 0);
        if (size <= 0) {
            return;
        }
        std::vector<char> attributes(static_cast<std::size_t>(size));
        ssize_t const listed = ::listxattr(original.c_str(), attributes.data(), attributes.size());
        for (char const* name = attributes.data(); name < attributes.data() + listed;
             name += std::strlen(name) + 1) {
            std::vector<char> value(65536);
            ssize_t const length = ::getxattr(original.c_str(), name, value.data(), value.size());
            if (length >= 0) {
                // Some attributes belong to the system, and cannot be set.
                ::fsetxattr(descriptor_, name, value.data(), static_cast<std::size_t>(length), 0);
            }
        }
    }

    std::string name_;
    int descriptor_ = -1;
    bool is_renamed_ = false;
};

fs::path home()
{
    char const* const value = std::getenv("HOME");
    return value != nullptr ? value : "/";
}

fs::path base_folder(char const* variable, char const* usual)
{
    char const* const value = std::getenv(variable);
    return value != nullptr && value[0] == '/' ? fs::path(value) : home() / usual;
}

} // namespace

std::string read_file(fs::path const& path)
{
    open_file const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat state
    {
    };
    if (!file || ::fstat(file.get(), &state) != 0) {
        cannot(problem::unread, "read", path);
    }
    if (!S_ISREG(state.st_mode)) {
        throw failure(problem::unread, "cannot read " + path.string() + ": it is no file");
    }
    std::string content(static_cast<std::size_t>(state.st_size), '\0');
    std::size_t used = 0;
    while (used < content.size()) {
        ssize_t const size = ::read(file.get(), content.data() + used, content.size() - used);
        if (size < 0 && errno != EINTR) {
            cannot(problem::unread, "read", path);
        }
        if (size == 0) {
            break;
        }
        used += size < 0 ? 0 : static_cast<std::size_t>(size);
    }
    content.resize(used);
    return content;
}

void replace_file(fs::path const& path, std::string_view content, unsigned new_mode)
{
    std::error_code ignored;
    fs::path const real = fs::exists(path, ignored) ? fs::canonical(path) : path;
    // A read-only file could be replaced all the same; its owner did not want that.
    if (!may_write(real)) {
        cannot(problem::unwritten, "write", real);
    }
    unfinished_file made(real);
    made.write(content);
    made.resemble(real, new_mode);
    made.rename_over(real);
}

bool may_write(fs::path const& path)
{
    std::error_code ignored;
    fs::path const real = fs::canonical(path, ignored);
    return real.empty() ||
           (::access(real.c_str(), W_OK) == 0 && ::access(real.parent_path().c_str(), W_OK) == 0);
}

file_state state_of(fs::path const& path)
{
    struct stat state
    {
    };
    // SQLite leaves empty logs behind where it only reads.
    if (::stat(path.c_str(), &state) != 0 || state.st_size == 0) {
        return {};
    }
    std::int64_t const modified =
        std::int64_t{state.st_mtim.tv_sec} * 1'000'000'000 + state.st_mtim.tv_nsec;
    return {state.st_size, modified, state.st_ino};
}

fs::path expanded(std::string_view path)
{
    struct prefix
    {
        std::string_view text;
        fs::path folder;
    };
    prefix const prefixes[] = {
        {"~/", home()},
        {"$XDG_CONFIG_HOME/", base_folder("XDG_CONFIG_HOME", ".config")},
        {"$XDG_DATA_HOME/", base_folder("XDG_DATA_HOME", ".local/share")},
        {"$XDG_STATE_HOME/", base_folder("XDG_STATE_HOME", ".local/state")},
    };
    for (prefix const& one : prefixes) {
        if (path.starts_with(one.text)) {
            return one.folder / path.substr(one.text.size());
        }
    }
    return path;
}

} // namespace statsync
