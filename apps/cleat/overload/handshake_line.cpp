#include "overload/handshake_line.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/priority.hpp>

#include <algorithm>
#include <utility>

namespace cleat::app {

handshake_line::handshake_line(net::worker& worker)
    : worker_{worker}, service_{worker, [this] { serve_first(); }}
{
}

bool handshake_line::is_full(std::size_t most, std::chrono::milliseconds longest) const noexcept
{
    return first_ != nullptr &&
           (size_ >= most || time_for_each_ * static_cast<std::int64_t>(size_) > longest ||
            worker_.now() - first_->since_ > longest);
}

// Handshakes that leave without a signature count, too: they make the wait of the others shorter. A
// handshake with few others before it mostly waits for the end of the pass in which it joined, so
// it may only lower the estimate. Otherwise the line would count as full for ever after a pause of
// the process.
void handshake_line::note_wait(turn const& served) noexcept
{
    net::worker::clock::duration const found =
        (worker_.now() - served.since_) / static_cast<std::int64_t>(served.ahead_ + 1);
    time_for_each_ =
        served.ahead_ < limits::line_sample_min ? std::min(time_for_each_, found) : found;
}

void handshake_line::leave(turn& t) noexcept
{
    (t.previous_ == nullptr ? first_ : t.previous_->next_) = t.next_;
    (t.next_ == nullptr ? last_ : t.next_->previous_) = t.previous_;
    --size_;
}

// Serves as many as the worker's time allows, and one at least.
void handshake_line::serve_first() noexcept
{
    while (first_ != nullptr) {
        turn& next = *first_;
        note_wait(next);
        leave(next);
        next.interrupt_.guard(nullptr);
        next.caller_.resume();
        if (worker_.time_is_up())
            break;
    }
    if (first_ != nullptr)
        service_.queue(net::priority::signature);
}

handshake_line::turn::turn(handshake_line& line, net::interrupt& interrupt) noexcept
    : waiter{[](net::waiter& w, error_code why) noexcept {
        turn& self = static_cast<turn&>(w);
        self.line_.leave(self);
        self.error_ = why;
        self.caller_.resume();
    }}
    , line_{line}
    , interrupt_{interrupt}
{
}

bool handshake_line::turn::await_ready() noexcept
{
    error_ = interrupt_.raised();
    return static_cast<bool>(error_);
}

void handshake_line::turn::await_suspend(std::coroutine_handle<> caller) noexcept
{
    caller_ = caller;
    since_ = line_.worker_.now();
    previous_ = std::exchange(line_.last_, this);
    (previous_ == nullptr ? line_.first_ : previous_->next_) = this;
    ahead_ = line_.size_++;
    interrupt_.guard(this);
    line_.service_.queue(net::priority::signature);
}

} // namespace cleat::app
