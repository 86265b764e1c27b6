#include "connect_queue.hpp"

#include <cleat/core/limits.hpp>

#include <utility>

namespace cleat::app {

connect_queue::connect_queue(net::worker& on) : deadline{&connect_queue::on_time}, on_{on}
{
    finish = &connect_queue::on_moved_up;
    // The worker makes room for a deadline of this length, which later could fail.
    on.arm(*this, limits::backlog_pause);
    cancel();
}

void connect_queue::on_time(deadline& d) noexcept
{
    static_cast<connect_queue&>(d).ask_first();
}

// Through the worker's queue, not from the one that leaves: a long line would be as deep a stack.
void connect_queue::on_moved_up(net::task_node& n, bool run) noexcept
{
    connect_queue& self = static_cast<connect_queue&>(n);
    self.moved_up_ = false;
    if (run)
        self.ask_first();
}

void connect_queue::ask_first() noexcept
{
    if (first_ != nullptr && first_->caller_)
        place::on_wake(*first_, {});
}

connect_queue::place::place(connect_queue& in, net::interrupt& by) noexcept
    : waiter{&place::on_wake}, in_{in}, by_{by}, previous_{std::exchange(in.last_, this)}
{
    (previous_ != nullptr ? previous_->next_ : in.first_) = this;
}

connect_queue::place::~place()
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

void connect_queue::place::wait(std::coroutine_handle<> caller) noexcept
{
    caller_ = caller;
    by_.guard(this);
    if (in_.first_ == this && !in_.moved_up_)
        in_.on_.arm(in_, limits::backlog_pause);
}

void connect_queue::place::on_wake(net::waiter& w, error_code) noexcept
{
    place& self = static_cast<place&>(w);
    self.by_.guard(nullptr);
    std::exchange(self.caller_, {}).resume();
}

} // namespace cleat::app
