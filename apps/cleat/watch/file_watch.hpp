// file_watch: notices when a watched file has changed.

#pragma once

#include "watch/watched_files.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct inotify_event;

namespace cleat::app {

/// file_watch asks the kernel (inotify(7)), which watches a folder wherever it goes. So it compares
/// from time to time which folders the paths lead to: one may be missing, or another one may be
/// there since a folder above it was renamed. Where the kernel's limit on watches is reached, it
/// compares the status of all files instead. One thread.
class file_watch
{
public:
    using clock = std::chrono::steady_clock;

    /// Watches nothing.
    file_watch() = default;

    /// watch replaces the files that are watched. The error is why the kernel does not watch; the
    /// files are compared then.
    error_code watch(watched_files files);

    /// unreadable is the folders that this process may not read: a change in them is not seen.
    [[nodiscard]] std::vector<std::string> const& unreadable() const noexcept
    {
        return unreadable_;
    }

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
    error_code watch_by_kernel();
    void compare_from_now_on();
    [[nodiscard]] file_changes take_events();
    void note(file_changes& found, inotify_event const& event) const;

    watched_files files_;
    unique_fd kernel_;                                     // An inotify descriptor.
    std::map<int, watched_files::const_iterator> folders_; // By its watch descriptor.
    std::vector<std::string> unreadable_;
    bool has_two_names_ = false; // A folder, which is mounted at two places, for example.
    std::optional<clock::time_point> next_comparison_;
    std::size_t compared_ = 0; // A hash of the folders' identity, or of the files' status.
};

} // namespace cleat::app
