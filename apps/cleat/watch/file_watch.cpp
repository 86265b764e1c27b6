#include "watch/file_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/inotify.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// A file counts when it has been written and closed, or has got its name. A folder that goes may
// come back under the same name.
constexpr std::uint32_t wanted_events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                        IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                        IN_ONLYDIR;

// A comparison takes at most a fiftieth of the time.
constexpr std::chrono::seconds comparison_interval{5};
constexpr int comparison_share = 50;

// pem-dir does not count names that begin with a dot, such as an editor's.
bool matters(watched_folder const& folder, std::string const& name)
{
    return folder.names.contains(name) || (folder.all && !name.empty() && name.front() != '.');
}

} // namespace

error_code file_watch::watch(watched_files files)
{
    stop();
    files_ = std::move(files);
    error_code const ec = watch_by_kernel();
    if (ec) {
        folders_.clear();
        kernel_.reset();
        compare_from_now_on();
    }
    return ec;
}

void file_watch::stop() noexcept
{
    folders_.clear();
    unreadable_.clear();
    kernel_.reset();
    next_comparison_.reset();
    files_.clear();
}

error_code file_watch::watch_by_kernel()
{
    kernel_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!kernel_)
        return last_system_error();
    for (auto const& [path, folder] : files_) {
        int const watch = ::inotify_add_watch(kernel_.get(), path.c_str(), wanted_events);
        if (watch >= 0)
            folders_[watch] = &folder;
        else if (errno == EACCES)
            unreadable_.push_back(path);
        else if (errno == ENOSPC || errno == ENOMEM)
            return last_system_error();
        // Else it is not there: a configuration that names it is refused.
    }
    return {};
}

void file_watch::compare_from_now_on()
{
    clock::time_point const begun = clock::now();
    compared_ = status_of(files_);
    clock::time_point const now = clock::now();
    next_comparison_ =
        now + std::max<clock::duration>(comparison_interval, comparison_share * (now - begun));
}

bool file_watch::take_changes()
{
    if (kernel_)
        return take_events();
    if (!next_comparison_ || clock::now() < *next_comparison_)
        return false;
    std::size_t const before = compared_;
    compare_from_now_on();
    return compared_ != before;
}

bool file_watch::take_events()
{
    bool found = false;
    alignas(inotify_event) std::array<char, 16'384> events; // NOLINT: filled by read
    for (;;) {
        ssize_t const size = ::read(kernel_.get(), events.data(), events.size());
        if (size <= 0)
            return found;
        for (ssize_t place = 0; place < size;) {
            auto const* const event = reinterpret_cast<inotify_event const*>(events.data() + place);
            place += static_cast<ssize_t>(sizeof *event + event->len);
            bool const is_lost = (event->mask & IN_Q_OVERFLOW) != 0;
            bool const is_folder = (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0;
            auto const folder = folders_.find(event->wd);
            std::string const name = event->len == 0 ? "" : event->name;
            found = found || is_lost || is_folder ||
                    (folder != folders_.end() && matters(*folder->second, name));
        }
    }
}

} // namespace cleat::app
