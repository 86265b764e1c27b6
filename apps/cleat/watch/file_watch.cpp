#include "watch/file_watch.hpp"
#include "watch/watched_events.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// A comparison takes at most a fiftieth of the time.
constexpr std::chrono::seconds comparison_interval{5};
constexpr int comparison_share = 50;

// Paths that a comparison asks another process about, at some 0.1 ms each.
constexpr std::size_t ways_compared_max = 256;

// pem-dir does not count names that begin with a dot, such as an editor's.
bool matters(watched_folder const& folder, std::string const& name)
{
    return folder.names.contains(name) || (folder.all && !name.empty() && name.front() != '.');
}

bool is_before(timespec const& a, timespec const& b)
{
    return std::pair{a.tv_sec, a.tv_nsec} < std::pair{b.tv_sec, b.tv_nsec};
}

std::vector<std::string> ways_to(watched_folder const& folder)
{
    std::vector<std::string> ways{folder.ways.begin(), folder.ways.end()};
    if (folder.all)
        ways.push_back(folder.way);
    return ways;
}

bool is_out_of_watches(error_code const& ec)
{
    return ec == boost::system::errc::no_space_on_device ||
           ec == boost::system::errc::not_enough_memory;
}

// Compares all elements with those of the last comparison. An element that this process may not see
// now, since it has given up root's rights, keeps its former value. True: something has changed.
template <class Element, class IsHidden>
bool has_changed(
    std::vector<Element> const& previous, std::vector<Element>& present, IsHidden is_hidden)
{
    bool is_changed = previous.size() != present.size();
    for (std::size_t i = 0; i < present.size() && i < previous.size(); ++i)
        if (is_hidden(present[i]))
            present[i] = previous[i];
        else
            is_changed = is_changed || present[i] != previous[i];
    return is_changed;
}

result<int> watch_folder(int inotify, std::string const& path)
{
    int const watch = ::inotify_add_watch(inotify, path.c_str(), watched_events);
    return watch >= 0 ? result<int>{watch} : result<int>{last_system_error()};
}

} // namespace

error_code file_watch::watch(watched_files files, root_folders root)
{
    stop();
    files_ = std::move(files);
    root_ = std::move(root);
    error_code ec = open_kernel();
    if (!ec) {
        static_cast<void>(compare()); // First: a folder that is replaced meanwhile is noticed.
        ec = watch_by_kernel();
    }
    if (ec) {
        drop_kernel();
        static_cast<void>(compare());
    }
    return ec;
}

void file_watch::drop_kernel() noexcept
{
    folders_.clear();
    root_names_.clear();
    kernel_.reset();
}

void file_watch::stop() noexcept
{
    drop_kernel();
    unreadable_.clear();
    closed_.clear();
    may_have_missed_ = false;
    has_two_names_ = false;
    next_comparison_.reset();
    present_folders_.clear();
    present_statuses_.clear();
    ways_compared_ = 0;
    files_.clear();
    root_ = {};
}

std::vector<std::string> file_watch::unreadable() const
{
    if (kernel_)
        return unreadable_;
    std::vector<std::string> found; // The start had root's rights, and has given them up since.
    for (auto const& [path, names] : files_)
        if (names.is_partial || is_closed(path))
            found.push_back(path);
    return found;
}

error_code file_watch::open_kernel()
{
    kernel_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    return kernel_ ? error_code{} : last_system_error();
}

error_code file_watch::watch_by_kernel()
{
    std::map<std::string, error_code> asked; // Results by path: no path is asked twice.
    for (folder each = files_.cbegin(); each != files_.cend(); ++each) {
        result<int> const watch = watch_folder(kernel_.get(), each->first);
        error_code ec = watch ? error_code{} : watch.error();
        if (watch)
            add_folder(*watch, each);
        bool const is_roots = is_denied(ec);
        if (is_roots && root_.watch)
            ec = watch_by_root(each, asked);
        if (is_out_of_watches(ec))
            return ec;
        // A comparison does not notice a new folder that only root can see. It finds any other.
        if (each->second.is_partial || (is_roots && ec)) {
            unreadable_.push_back(each->first);
            if (is_closed(each->first))
                closed_.push_back(each->first);
        }
    }
    return {};
}

// The error is that of the last path which cannot be watched.
error_code file_watch::watch_by_root(folder each, std::map<std::string, error_code>& asked)
{
    error_code failed;
    for (std::string const& path : ways_to(each->second)) {
        auto const [known, is_new] = asked.try_emplace(path);
        if (is_new) {
            result<std::vector<watched_place>> const places = root_.watch(kernel_.get(), path);
            known->second = places ? error_code{} : places.error();
            for (watched_place const& place : places ? *places : std::vector<watched_place>{})
                if (place.name.empty())
                    add_folder(place.watch, each);
                else
                    root_names_[place.watch].insert(place.name);
        }
        failed = known->second ? known->second : failed;
    }
    return failed;
}

void file_watch::add_folder(int watch, folder each)
{
    has_two_names_ = folders_.emplace(watch, each).first->second != each || has_two_names_;
}

file_changes file_watch::take_changes()
{
    file_changes found{.is_complete = true};
    if (kernel_)
        found = take_events();
    if (std::exchange(may_have_missed_, false))
        found.is_complete = false;
    if (!next_comparison_ || clock::now() < *next_comparison_)
        return found;
    found.is_complete = !compare() && found.is_complete;
    return found;
}

// True: something is not as at the last comparison.
bool file_watch::compare()
{
    clock::time_point const begun = clock::now();
    bool is_changed = false;
    if (kernel_) {
        is_changed = compare_folders();
        is_changed = compare_ways() || is_changed;
        is_changed = find_opened() || is_changed;
    } else {
        is_changed = compare_statuses();
    }
    clock::time_point const now = clock::now();
    next_comparison_ =
        now + std::max<clock::duration>(comparison_interval, comparison_share * (now - begun));
    return is_changed;
}

bool file_watch::compare_folders()
{
    std::vector<folder_identity> const previous =
        std::exchange(present_folders_, identities_of(files_));
    return has_changed(previous, present_folders_, [](folder_identity const& each) {
        return each.error == EACCES;
    });
}

// Folders that this process could not read at first, and can now: their mode has been mended.
bool file_watch::find_opened()
{
    auto const is_open = [](std::string const& each) { return !is_closed(each); };
    return std::erase_if(closed_, is_open) != 0;
}

bool file_watch::compare_statuses()
{
    std::vector<folder_status> const previous =
        std::exchange(present_statuses_, statuses_of(files_));
    return has_changed(
        previous, present_statuses_, [](folder_status const& each) { return !each; });
}

// inotify follows a folder when it is renamed. So the opener is asked again whether the paths that
// this process cannot follow still lead to the watched folders, some paths at a time.
bool file_watch::compare_ways()
{
    std::vector<way> ways;
    if (folders_.empty() && root_names_.empty())
        return false; // None is watched yet.
    for (folder each = files_.cbegin(); root_.watch && each != files_.cend(); ++each)
        if (is_closed(each->first))
            for (std::string const& path : ways_to(each->second))
                ways.emplace_back(path, each);
    std::size_t const begin = ways_compared_ < ways.size() ? ways_compared_ : 0;
    ways_compared_ = std::min(begin + ways_compared_max, ways.size());
    bool is_changed = false;
    for (std::size_t i = begin; i < ways_compared_; ++i) {
        auto const& [path, each] = ways[i];
        result<std::vector<watched_place>> const places = root_.watch(kernel_.get(), path);
        for (watched_place const& place : places ? *places : std::vector<watched_place>{})
            is_changed = is_changed || !is_watched(place, each);
    }
    return is_changed;
}

bool file_watch::is_watched(watched_place const& place, folder each) const
{
    auto const names = root_names_.find(place.watch);
    if (names != root_names_.end() && names->second.contains(place.name))
        return true;
    auto const found = folders_.find(place.watch);
    if (found == folders_.end())
        return false;
    return place.name.empty() ? found->second == each : matters(found->second->second, place.name);
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
    if (event.len == 0) { // Of the folder itself: who may read it, for example.
        if (folders_.contains(event.wd) || root_names_.contains(event.wd))
            found.is_complete = false;
        return;
    }
    std::string const name = event.name;
    auto const names = root_names_.find(event.wd);
    bool const is_on_a_way = names != root_names_.end() && names->second.contains(name);
    auto const place = folders_.find(event.wd);
    bool const is_in_folder = place != folders_.end() && matters(place->second->second, name);
    if (!is_on_a_way && !is_in_folder)
        return;
    if ((event.mask & IN_ISDIR) != 0)
        found.is_complete = false;
    if (is_on_a_way || place->second->second.names.contains(name))
        found.elsewhere = true;
    else
        found.in_folders.insert(place->second->first + '/' + name);
}

// A folder's time of change is of the coarse clock, or, where somebody has looked at the last one,
// of the exact one (since Linux 6.13).
void file_watch::look_back(timespec listed)
{
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    for (auto const& [path, names] : files_) {
        struct stat found
        {
        };
        if (!names.all || ::lstat(path.c_str(), &found) != 0)
            continue;
        // Not one of the future: after a jump of the clock every look would see it.
        if (!is_before(found.st_mtim, listed) && !is_before(now, found.st_mtim))
            may_have_missed_ = true;
    }
}

watch_plan plan_watching(config const& settings, root_folders const& root)
{
    timespec begun{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    watch_plan plan = find_files(settings, root);
    plan.watch = std::make_shared<file_watch>();
    plan.unwatched = plan.watch->watch(plan.files, root);
    plan.watch->look_back(begun);
    return plan;
}

} // namespace cleat::app
