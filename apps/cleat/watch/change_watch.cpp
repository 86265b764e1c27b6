#include "snapshot/snapshot.hpp"
#include "supervise/change_watch.hpp"

#include <algorithm>
#include <utility>

namespace cleat::app {

void change_watch::follow(snapshot const& present, reload_outcome const& last, logger const& log)
{
    if (!last.done)
        changed_.add(handed_over_);
    watch(present, last, log);
    if (last.is_final)
        trigger_.settled();
    else
        trigger_.refused();
}

// Files of a configuration that could not be used, too: one that it names may be about to come.
void change_watch::watch(snapshot const& present, reload_outcome const& last, logger const& log)
{
    if (!present.watched) {
        watched_.reset();
        return watch_.stop();
    }
    std::shared_ptr<watch_plan const> const& read = last.done ? present.watched : last.watched;
    if (!read || read == watched_)
        return; // It was not read that far, or is the same.
    watched_ = read;
    watched_files files = present.watched->files;
    add_files(files, read->files);
    error_code const ec = watch_.watch(std::move(files));
    changed_.is_complete = last.done && watch_.is_exact();
    if (ec)
        log.warning("watching-by-comparison")
            .add("reason", ec)
            .add("cure", "raise fs.inotify.max_user_watches or max_user_instances");
    if (last.done)
        for (std::string const& folder : watch_.unreadable())
            log.warning("not-watched")
                .add("folder", folder)
                .add("cure", "let the user that cleat runs as read it, or use cleat reload");
    // A file that changed after it was read, and before it was watched, is a change.
    if (status_of(read->files) != read->status) {
        changed_.is_complete = false;
        trigger_.changed(clock::now());
    }
}

void change_watch::stop() noexcept
{
    watch_.stop();
    trigger_ = {};
}

std::optional<change_watch::clock::time_point> change_watch::next_look() const noexcept
{
    std::optional<clock::time_point> const due = trigger_.due();
    std::optional<clock::time_point> const comparison = watch_.next_comparison();
    return due && comparison ? std::min(due, comparison) : due ? due : comparison;
}

void change_watch::look(clock::time_point now)
{
    file_changes const found = watch_.take_changes();
    if (!found.any())
        return;
    changed_.add(found);
    trigger_.changed(now);
}

bool change_watch::is_due(clock::time_point now) const noexcept
{
    return trigger_.due() && now >= *trigger_.due();
}

file_changes change_watch::hand_over(bool by_operator)
{
    changed_.add(watch_.take_changes());
    changed_.is_complete = changed_.is_complete && !by_operator;
    handed_over_ = std::exchange(changed_, {.is_complete = true});
    return handed_over_;
}

} // namespace cleat::app
