#include "waiting_line.hpp"

#include <cleat/core/limits.hpp>

#include <utility>

namespace cleat::app {

waiting_line::waiting_line(net::worker& on) : deadline{&waiting_line::on_time}, on_{on}
{
    finish = &waiting_line::on_moved_up;
    // The worker makes room for a deadline of this length, which later could fail.
    on.arm(*this, limits::backlog_pause);
    cancel();
}

void waiting_line::on_time(deadline& d) noexcept
{
    static_cast<waiting_line&>(d).ask_first();
}

// Through the worker's queue, not from the one that leaves: a long line would be as deep a stack.
void waiting_line::on_moved_up(net::task_node& n, bool run) noexcept
{
    waiting_line& self = static_cast<waiting_line&>(n);
    self.moved_up_ = false;
    if (run)
        self.ask_first();
}

void waiting_line::ask_first() noexcept
{
    if (first_ != nullptr && first_->caller_)
        place::on_wake(*first_, {});
}

waiting_line::place::place(waiting_line& in, net::interrupt& by) noexcept
    : waiter{&place::on_wake}, in_{in}, by_{by}, previous_{std::exchange(in.last_, this)}
{
    (previous_ != nullptr ? previous_->next_ : in.first_) = this;
}

waiting_line::place::~place()
{
    bool const was_first = previous_ == nullptr;
    (was_first ? in_.first_ : previous_->next_) = next_;
    (next_ == nullptr ? in_.last_ : next_->previous_) = previous_;
    if (!was_first)
        return;
    in_.cancel();
    if (in_.first_ != nullptr && !std::exchange(in_.moved_up_, true))
        in_.on_.push(in_);
}

void waiting_line::place::wait(std::coroutine_handle<> caller) noexcept
{
    caller_ = caller;
    by_.guard(this);
    if (in_.first_ == this && !in_.moved_up_)
        in_.on_.arm(in_, limits::backlog_pause);
}

void waiting_line::place::on_wake(net::waiter& w, error_code) noexcept
{
    place& self = static_cast<place&>(w);
    self.by_.guard(nullptr);
    std::exchange(self.caller_, {}).resume();
}

} // namespace cleat::app
