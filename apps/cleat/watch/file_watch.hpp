// file_watch: notices when a watched file has changed.

#pragma once

#include "watch/root_folders.hpp"
#include "watch/watched_files.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

struct inotify_event;

namespace cleat::app {

/// file_watch asks the kernel (inotify(7)), which watches a folder wherever it goes. So it compares
/// from time to time which folders the paths lead to: one may be missing, or another one may be
/// there since a folder above it was renamed. Where the kernel's limit on watches is reached, it
/// compares the status of all files instead. One thread. Calls throw std::bad_alloc.
class file_watch
{
public:
    using clock = std::chrono::steady_clock;

    /// Watches nothing.
    file_watch() = default;

    /// watch replaces the files that are watched. The error is why the kernel does not watch; the
    /// files are compared then. `root` watches the folders that this process may not; it may be
    /// empty. Its functions stay until stop.
    error_code watch(watched_files files, root_folders root = {});

    /// look_back has the next take_changes report that more may have changed where a pem-dir's
    /// folder has changed since its files were listed, by CLOCK_REALTIME_COARSE: one that came
    /// meanwhile is not watched.
    void look_back(timespec listed);

    /// unreadable is the folders in which some change is not seen, because this process may not
    /// read them: any change, or those in folders below them.
    [[nodiscard]] std::vector<std::string> unreadable() const;

    /// is_exact: the kernel tells every change in the folders, and in which of them it is.
    [[nodiscard]] bool is_exact() const noexcept
    {
        return kernel_ && unreadable_.empty() && !has_two_names_;
    }

    /// stop watches nothing.
    void stop() noexcept;

    /// native_handle is readable when something has changed; -1 where the kernel does not watch.
    [[nodiscard]] int native_handle() const noexcept { return kernel_.get(); }

    /// next_comparison is when to call take_changes although nothing is readable.
    [[nodiscard]] std::optional<clock::time_point> next_comparison() const noexcept
    {
        return next_comparison_;
    }

    /// take_changes is what has changed since the last call.
    [[nodiscard]] file_changes take_changes();

private:
    error_code open_kernel();
    void drop_kernel() noexcept;
    using folder = watched_files::const_iterator;
    using way = std::pair<std::string, folder>; // A path for root_, and what it is needed for.

    error_code watch_by_kernel();
    error_code watch_by_root(folder each, std::map<std::string, error_code>& asked);
    void add_folder(int watch, folder each);
    [[nodiscard]] file_changes take_events();
    [[nodiscard]] bool compare();
    [[nodiscard]] bool compare_folders();
    [[nodiscard]] bool compare_statuses();
    [[nodiscard]] bool compare_ways();
    [[nodiscard]] bool find_opened();
    [[nodiscard]] bool is_watched(watched_place const& place, folder each) const;
    void note(file_changes& found, inotify_event const& event) const;

    watched_files files_;
    root_folders root_;
    unique_fd kernel_;              // An inotify descriptor.
    std::map<int, folder> folders_; // By its watch descriptor.
    std::map<int, std::set<std::string>>
        root_names_;                // That matter, in folders which root_ watches.
    std::size_t ways_compared_ = 0; // Where the next comparison begins.
    std::vector<std::string> unreadable_;
    std::vector<std::string> closed_; // Those of them that this process could not read at first.
    bool may_have_missed_ = false;
    bool has_two_names_ = false; // A folder, which is mounted at two places, for example.
    std::optional<clock::time_point> next_comparison_;
    std::vector<folder_identity> present_folders_; // Where the kernel watches.
    std::vector<folder_status> present_statuses_;  // Where it does not.
};

/// plan_watching finds the files of the settings (find_files), and watches them from now on.
[[nodiscard]] watch_plan plan_watching(config const& settings, root_folders const& root = {});

} // namespace cleat::app
