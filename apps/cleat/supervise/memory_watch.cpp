#include "supervise/memory_watch.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>

#include <cerrno>
#include <new>
#include <utility>

#include <pthread.h>

namespace cleat::app {

memory_watch::~memory_watch()
{
    is_ending_ = true;
    changed_.release();
    thread_.join();
}

void memory_watch::follow(std::uint64_t limit) noexcept
{
    wanted_ = limit;
    changed_.release();
}

void memory_watch::run() noexcept
{
    ::pthread_setname_np(::pthread_self(), "memory-limit");
    memory_levels levels;
    while (!is_ending_) {
        if (!wait_for_change(levels)) {
            read(levels);
            continue;
        }
        if (levels.limit() != wanted_) // A level of the same limit goes on.
            levels = memory_levels{wanted_};
        counts_->limit = levels.limit();
        try {
            gauge_ = subject_.gauge();
        } catch (std::bad_alloc const&) { // The gauge before stays.
        }
        read(levels);
    }
}

// False: it is time for a reading. Without a limit there is one more, because a share is given
// twice.
bool memory_watch::wait_for_change(memory_levels const& levels) noexcept
{
    if (levels.limit() != 0 || is_changed_)
        return changed_.try_acquire_for(is_near_ ? interval_near : interval);
    changed_.acquire();
    return true;
}

void memory_watch::read(memory_levels& levels) noexcept
{
    if (levels.limit() == 0)
        return publish({});
    if (!gauge_)
        return;
    try {
        memory_reading now{.in_use = gauge_()};
        if (now.in_use == 0) {
            int const reason = errno;
            count_failure(reason);
            // The group has gone: the process is in another one. Where descriptors or memory are
            // short, that one would not be found either, and the process alone counted for good.
            if (reason == ENOENT || reason == ENODEV)
                gauge_ = subject_.gauge();
            return;
        }
        subject_.count(now);
        counts_->in_use = now.in_use;
        is_near_ = memory_levels::expected(now) >= levels.part(50);
        if (std::exchange(is_trim_due_, false))
            subject_.trim();
        memory_share share = levels.on_reading(now, subject_.workers);
        is_trim_due_ = is_time(share.level);
        if (is_trim_due_ && share.level == memory_level::full)
            ++evictions_;
        share.evictions = evictions_;
        publish(share);
    } catch (std::bad_alloc const&) { // The next reading may find some.
        count_failure(ENOMEM);
    }
}

// Workers go on with the share before. The thread of look is woken for a line that it may write.
void memory_watch::count_failure(int reason) noexcept
{
    counts_->last_failure = reason;
    ++counts_->failures;
    clock::time_point const now = clock::now();
    if (now < next_failure_wake_)
        return;
    next_failure_wake_ = now + limits::failure_interval;
    subject_.wake();
}

// A level has begun, or lasts for long enough since the last time.
bool memory_watch::is_time(memory_level level) noexcept
{
    clock::time_point const now = clock::now();
    if (level == memory_level::normal || (now < next_trim_ && level <= given_.level))
        return false;
    next_trim_ = now + (level == memory_level::full ? trim_interval_full : trim_interval);
    return true;
}

void memory_watch::publish(memory_share share) noexcept
{
    bool const is_new = share.level != given_.level;
    // Once more after a change: a worker that is taking the share before does not see this one.
    if (share != given_ || is_changed_ || share.level != memory_level::normal ||
        share.admitted != memory_share::unlimited)
        subject_.give(share);
    is_changed_ = share != given_;
    given_ = share;
    if (!is_new)
        return;
    counts_->level = share.level;
    ++counts_->changes;
    subject_.wake();
}

void memory_watch::look_at_failures(logger const& log)
{
    std::uint64_t const failures = counts_->failures;
    clock::time_point const now = clock::now();
    if (failures == logged_failures_ || now < next_failure_line_)
        return;
    next_failure_line_ = now + limits::failure_interval;
    log.warning("memory-not-read")
        .add("reason", error_code{counts_->last_failure, boost::system::system_category()})
        .add("count", failures - std::exchange(logged_failures_, failures))
        .add(
            "cure", "workers go on with what they were told before: see the limit on descriptors, "
                    "and whether /proc and /sys/fs/cgroup can be read");
}

void memory_watch::look(logger const& log)
{
    look_at_failures(log);
    std::uint64_t const changes = counts_->changes;
    if (std::exchange(logged_changes_, changes) == changes)
        return;
    memory_level const now = counts_->level;
    memory_level const before = std::exchange(logged_, now);
    if (now == before) // It has come and gone since.
        return;
    log.warning("memory-level")
        .add("to", to_string(now))
        .add("from", to_string(before))
        .add("in_use", counts_->in_use.load())
        .add("max_memory", counts_->limit.load());
}

} // namespace cleat::app
