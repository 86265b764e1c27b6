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

bool handshake_line::is_full(
    signature_cost cost, std::size_t most, std::chrono::milliseconds longest) const noexcept
{
    queue const& own = queue_of(cost);
    if (size() != 0 && size() >= most && own.size >= most / limits::line_reserve)
        return true;
    return own.first != nullptr &&
           (own.time_for_each * static_cast<std::int64_t>(own.size) > longest ||
            worker_.now() - own.first->since_ > longest);
}

// Handshakes that leave without a signature count, too: they make the wait of the others shorter. A
// handshake with few others before it mostly waits for the end of the pass in which it joined, so
// it may only lower the estimate. Otherwise the line would count as full for ever after a pause of
// the process.
void handshake_line::note_wait(turn const& served) noexcept
{
    net::worker::clock::duration const found =
        (worker_.now() - served.since_) / static_cast<std::int64_t>(served.ahead_ + 1);
    net::worker::clock::duration& known = queue_of(served.cost_).time_for_each;
    known = served.ahead_ < limits::line_sample_min ? std::min(known, found) : found;
}

void handshake_line::leave(turn& t) noexcept
{
    queue& own = queue_of(t.cost_);
    (t.previous_ == nullptr ? own.first : t.previous_->next_) = t.next_;
    (t.next_ == nullptr ? own.last : t.next_->previous_) = t.previous_;
    --own.size;
}

// One waits at least.
signature_cost handshake_line::next_cost() const noexcept
{
    if (queue_of(signature_cost::high).first == nullptr)
        return signature_cost::low;
    return queue_of(signature_cost::low).first == nullptr ? signature_cost::high : share_.next();
}

void handshake_line::serve(signature_cost cost) noexcept
{
    turn& next = *queue_of(cost).first;
    note_wait(next);
    leave(next);
    next.interrupt_.guard(nullptr);
    bool const other_waits = size() != queue_of(cost).size;
    net::worker::clock::time_point const begun = net::worker::clock::now();
    next.caller_.resume();
    share_.served(cost, net::worker::clock::now() - begun, other_waits);
}

// Serves as many as the worker's time allows, and one at least.
void handshake_line::serve_first() noexcept
{
    while (size() != 0) {
        serve(next_cost());
        if (worker_.time_is_up())
            break;
    }
    if (size() != 0)
        service_.queue(net::priority::signature);
}

handshake_line::turn::turn(
    handshake_line& line, net::interrupt& interrupt, signature_cost cost) noexcept
    : waiter{[](net::waiter& w, error_code why) noexcept {
        turn& self = static_cast<turn&>(w);
        self.line_.leave(self);
        self.error_ = why;
        self.caller_.resume();
    }}
    , line_{line}
    , interrupt_{interrupt}
    , cost_{cost}
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
    queue& own = line_.queue_of(cost_);
    previous_ = std::exchange(own.last, this);
    (previous_ == nullptr ? own.first : previous_->next_) = this;
    ahead_ = own.size++;
    interrupt_.guard(this);
    line_.service_.queue(net::priority::signature);
}

} // namespace cleat::app
