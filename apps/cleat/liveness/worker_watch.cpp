#include "liveness/worker_watch.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cleat::app {
namespace {

std::int64_t milliseconds_of(worker_watch::clock::duration time) noexcept
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

} // namespace

worker_watch::worker_watch(std::vector<watched_worker> workers)
    : interval_{limits::worker_question_interval}
{
    for (watched_worker& each : workers)
        workers_.push_back({std::move(each)});
}

void worker_watch::look(clock::time_point now, logger const& log)
{
    if (now < next_look_)
        return;
    next_look_ = now + interval_;
    for (std::size_t number = 0; number < workers_.size(); ++number)
        look(number, now, log);
}

void worker_watch::look(std::size_t number, clock::time_point now, logger const& log)
{
    state& each = workers_[number];
    if (each.worker.is_waiting()) {
        if (each.is_held)
            return;
        clock::time_point const due = each.asked + limits::worker_held_after;
        if (now < due) {
            next_look_ = std::min(next_look_, due);
            return;
        }
        each.is_held = true;
        ++counts_->holds;
        ++counts_->held;
        log.warning("worker-held")
            .add("worker", number)
            .add("for_ms", milliseconds_of(now - each.asked));
        return;
    }
    if (std::exchange(each.is_held, false)) {
        --counts_->held;
        log.warning("worker-back")
            .add("worker", number)
            .add("held_ms", milliseconds_of(now - each.asked));
    }
    each.asked = now;
    each.worker.ask();
}

bool worker_watch::are_alive(clock::time_point now, clock::duration patience) const
{
    return std::ranges::none_of(workers_, [&](state const& each) {
        return each.worker.is_waiting() && now - each.asked >= patience;
    });
}

} // namespace cleat::app
