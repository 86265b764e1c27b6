#include "store/process.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>

#include <sys/stat.h>
#include <unistd.h>

namespace statsync {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kernel_name_size_max = 15; // TASK_COMM_LEN, less the NUL.

std::string name_of_process(fs::path const& process)
{
    std::ifstream file(process / "comm");
    std::string name;
    std::getline(file, name);
    return name;
}

bool is_other_process(fs::path const& path)
{
    std::string const name = path.filename();
    int id = 0;
    std::from_chars_result const read = std::from_chars(name.data(), name.data() + name.size(), id);
    return read.ec == std::errc() && read.ptr == name.data() + name.size() && id != ::getpid();
}

std::optional<unsigned> owner_of(fs::path const& path)
{
    struct stat state
    {
    };
    return ::stat(path.c_str(), &state) == 0 ? std::optional(state.st_uid) : std::nullopt;
}

bool is_of(user_set const& users, fs::path const& process)
{
    std::optional<unsigned> const owner = owner_of(process);
    return users.empty() || (owner && users.contains(*owner));
}

/// find_process: the name of the first other process for which the test is true.
std::optional<std::string> find_process(std::function<bool(fs::path const&)> const& test)
{
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        if (is_other_process(entry->path()) && test(entry->path())) {
            return name_of_process(entry->path());
        }
    }
    return std::nullopt;
}

bool has_open(fs::path const& process, struct stat const& wanted)
{
    std::error_code error;
    for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end;
         entry.increment(error)) {
        struct stat state
        {
        };
        if (::stat(entry->path().c_str(), &state) == 0 && state.st_ino == wanted.st_ino &&
            state.st_dev == wanted.st_dev) {
            return true;
        }
    }
    return false;
}

} // namespace

user_set users_of(std::span<fs::path const> files)
{
    user_set users{::geteuid()};
    for (fs::path const& file : files) {
        if (std::optional<unsigned> const owner = owner_of(file)) {
            users.insert(*owner);
        }
    }
    return users;
}

std::optional<std::string> running(std::span<std::string const> names, user_set const& users)
{
    return find_process([&](fs::path const& process) {
        std::string const name = name_of_process(process);
        auto const is_named = [&](std::string const& wanted) {
            return name == wanted.substr(0, kernel_name_size_max);
        };
        return std::ranges::any_of(names, is_named) && is_of(users, process);
    });
}

std::optional<std::string> opener(fs::path const& file)
{
    struct stat state
    {
    };
    if (::stat(file.c_str(), &state) != 0) {
        return std::nullopt;
    }
    return find_process([&](fs::path const& process) { return has_open(process, state); });
}

} // namespace statsync
