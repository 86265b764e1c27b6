#include "snapshot/snapshot.hpp"
#include "supervise/change_watch.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace cleat::app {
namespace {

using time_point = change_watch::clock::time_point;

std::optional<time_point> earlier(std::optional<time_point> a, std::optional<time_point> b) noexcept
{
    return a && b ? std::min(a, b) : a ? a : b;
}

// Ends the watch that is replaced at once: its configuration stays until its last connection ends.
void replace(
    std::shared_ptr<watch_plan const>& place, std::shared_ptr<watch_plan const> next) noexcept
{
    if (place && place != next)
        place->watch->stop();
    place = std::move(next);
}

} // namespace

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
// Changes since they were read are waiting in their watch.
void change_watch::watch(snapshot const& present, reload_outcome const& last, logger const& log)
{
    if (!present.watched)
        return stop_watching();
    std::shared_ptr<watch_plan const> const& read = last.done ? present.watched : last.watched;
    if (!read || read == (refused_ ? refused_ : present_))
        return; // It was not read that far, or is the same as last time.
    // The settings were read before their own watch began.
    look(clock::now());
    replace(present_, present.watched);
    replace(refused_, last.done ? nullptr : read);
    // The queue of the watch that is replaced may have been full.
    changed_.is_complete = last.done && changed_.is_complete && present_->watch->is_exact();
    if (read->unwatched)
        log.warning("watching-by-comparison")
            .add("reason", read->unwatched)
            .add("cure", "raise fs.inotify.max_user_watches or max_user_instances");
    if (last.done)
        for (std::string const& folder : present_->watch->unreadable())
            log.warning("not-watched")
                .add("folder", folder)
                .add("cure", "let the user that cleat runs as read it, or use cleat reload");
}

void change_watch::stop_watching() noexcept
{
    replace(present_, nullptr);
    replace(refused_, nullptr);
}

void change_watch::stop() noexcept
{
    stop_watching();
    trigger_ = {};
}

std::array<int, 2> change_watch::native_handles() const noexcept
{
    return {
        present_ ? present_->watch->native_handle() : -1,
        refused_ ? refused_->watch->native_handle() : -1};
}

std::optional<change_watch::clock::time_point> change_watch::next_comparison() const noexcept
{
    std::optional<clock::time_point> next;
    for (watch_plan const* const each : {present_.get(), refused_.get()})
        if (each != nullptr)
            next = earlier(next, each->watch->next_comparison());
    return next;
}

std::optional<change_watch::clock::time_point> change_watch::next_look() const noexcept
{
    return earlier(trigger_.due(), next_comparison());
}

void change_watch::look(clock::time_point now)
{
    file_changes const found = take_changes();
    if (!found.any())
        return;
    changed_.add(found);
    trigger_.changed(now);
}

file_changes change_watch::take_changes() const
{
    file_changes found{.is_complete = true};
    try {
        for (watch_plan const* const each : {present_.get(), refused_.get()})
            if (each != nullptr)
                found.add(each->watch->take_changes());
    } catch (std::bad_alloc const&) { // The kernel reports each change once.
        return {.is_complete = false};
    }
    return found;
}

bool change_watch::is_due(clock::time_point now) const noexcept
{
    return trigger_.due() && now >= *trigger_.due();
}

file_changes change_watch::hand_over(bool by_operator)
{
    changed_.add(take_changes());
    changed_.is_complete = changed_.is_complete && !by_operator;
    handed_over_ = changed_;
    file_changes given = changed_;
    changed_ = {.is_complete = true}; // Last, since the copies may find no memory.
    return given;
}

} // namespace cleat::app
