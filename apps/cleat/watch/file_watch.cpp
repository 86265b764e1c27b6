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
    error_code ec = open_kernel();
    if (!ec) {
        compare_from_now_on(); // First: a folder that is replaced meanwhile is noticed.
        ec = watch_by_kernel();
    }
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
    has_two_names_ = false;
    kernel_.reset();
    next_comparison_.reset();
    files_.clear();
}

error_code file_watch::open_kernel()
{
    kernel_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    return kernel_ ? error_code{} : last_system_error();
}

error_code file_watch::watch_by_kernel()
{
    for (auto each = files_.cbegin(); each != files_.cend(); ++each) {
        int const watch = ::inotify_add_watch(kernel_.get(), each->first.c_str(), wanted_events);
        if (watch >= 0)
            has_two_names_ = !folders_.emplace(watch, each).second || has_two_names_;
        else if (errno == EACCES)
            unreadable_.push_back(each->first);
        else if (errno == ENOSPC || errno == ENOMEM)
            return last_system_error();
        // Else it is not there: a comparison finds it when it comes.
    }
    return {};
}

void file_watch::compare_from_now_on()
{
    clock::time_point const begun = clock::now();
    compared_ = kernel_ ? identity_of(files_) : status_of(files_);
    clock::time_point const now = clock::now();
    next_comparison_ =
        now + std::max<clock::duration>(comparison_interval, comparison_share * (now - begun));
}

file_changes file_watch::take_changes()
{
    file_changes found{.is_complete = true};
    if (kernel_)
        found = take_events();
    if (!next_comparison_ || clock::now() < *next_comparison_)
        return found;
    std::size_t const before = compared_;
    compare_from_now_on();
    found.is_complete = found.is_complete && compared_ == before;
    return found;
}

file_changes file_watch::take_events()
{
    file_changes found{.is_complete = true};
    alignas(inotify_event) std::array<char, 16'384> events; // NOLINT: filled by read
    for (;;) {
        ssize_t const size = ::read(kernel_.get(), events.data(), events.size());
        if (size <= 0)
            return found;
        for (ssize_t place = 0; place < size;) {
            auto const* const event = reinterpret_cast<inotify_event const*>(events.data() + place);
            place += static_cast<ssize_t>(sizeof *event + event->len);
            note(found, *event);
        }
    }
}

void file_watch::note(file_changes& found, inotify_event const& event) const
{
    constexpr std::uint32_t of_folder =
        IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
    if ((event.mask & of_folder) != 0) {
        found.is_complete = false;
        return;
    }
    auto const place = folders_.find(event.wd);
    std::string const name = event.len == 0 ? "" : event.name;
    if (place == folders_.end() || !matters(place->second->second, name))
        return;
    auto const& [path, folder] = *place->second;
    if ((event.mask & IN_ISDIR) != 0)
        found.is_complete = false;
    if (folder.names.contains(name))
        found.elsewhere = true;
    else
        found.in_folders.insert(path + '/' + name);
}

} // namespace cleat::app
