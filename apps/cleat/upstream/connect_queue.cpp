#include "upstream/connect_queue.hpp"

#include <cleat/core/limits.hpp>

#include <utility>

namespace cleat::app {

connect_queue::connect_queue(net::worker& worker)
    : deadline{&connect_queue::on_time}, worker_{worker}
{
    finish = &connect_queue::on_moved_up;
    // The first deadline of a duration allocates its queue. That is done here, where it may throw.
    worker.arm(*this, limits::backlog_pause);
    cancel();
}

void connect_queue::on_time(deadline& d) noexcept
{
    static_cast<connect_queue&>(d).wake_first();
}

// Called by the worker, not by the destructor of a place: if each place woke the next one directly,
// a long queue would make a deep stack.
void connect_queue::on_moved_up(net::task_node& n, bool run) noexcept
{
    connect_queue& self = static_cast<connect_queue&>(n);
    self.moved_up_ = false;
    if (run)
        self.wake_first();
}

void connect_queue::try_again() noexcept
{
    if (first_ == nullptr || std::exchange(moved_up_, true))
        return;
    cancel();
    worker_.push(*this);
}

void connect_queue::wake_first() noexcept
{
    if (first_ != nullptr && first_->caller_)
        place::on_wake(*first_, {});
}

connect_queue::place::place(connect_queue& queue, net::interrupt& interrupt) noexcept
    : waiter{&place::on_wake}
    , queue_{queue}
    , interrupt_{interrupt}
    , previous_{std::exchange(queue.last_, this)}
{
    (previous_ != nullptr ? previous_->next_ : queue.first_) = this;
}

connect_queue::place::~place()
{
    bool const was_first = previous_ == nullptr;
    (was_first ? queue_.first_ : previous_->next_) = next_;
    (next_ == nullptr ? queue_.last_ : next_->previous_) = previous_;
    if (!was_first)
        return;
    queue_.cancel();
    if (queue_.first_ != nullptr && !std::exchange(queue_.moved_up_, true))
        queue_.worker_.push(queue_);
}

void connect_queue::place::wait(std::coroutine_handle<> caller) noexcept
{
    caller_ = caller;
    interrupt_.guard(this);
    if (queue_.first_ == this && !queue_.moved_up_)
        queue_.worker_.arm(queue_, limits::backlog_pause);
}

void connect_queue::place::on_wake(net::waiter& w, error_code) noexcept
{
    place& self = static_cast<place&>(w);
    self.interrupt_.guard(nullptr);
    std::exchange(self.caller_, {}).resume();
}

} // namespace cleat::app
