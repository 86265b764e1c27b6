#include "limits/half_open.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

half_open* half_open_list::next_to_end(net::worker::clock::time_point now) const noexcept
{
    for (half_open* const first : {silent_.first, heard_.first})
        if (first != nullptr && now - first->since_ >= grace)
            return first;
    return nullptr;
}

void half_open_list::evict(std::size_t count, net::worker::clock::time_point now) noexcept
{
    for (; count != 0; --count) {
        half_open* const ended = next_to_end(now);
        if (ended == nullptr)
            return;
        // This resumes the connection, which destroys its place, and may end others.
        net::interrupt& interrupt = ended->interrupt_;
        ended->leave();
        interrupt.raise(error::handshake_evicted);
    }
}

half_open::half_open(half_open_list& list, net::interrupt& interrupt) noexcept
    : list_{list}, interrupt_{interrupt}
{
    join(list_.silent_);
}

half_open::~half_open()
{
    leave();
}

void half_open::on_input() noexcept
{
    if (in_ != &list_.silent_)
        return;
    leave();
    join(list_.heard_);
}

void half_open::join(half_open_list::queue& queue) noexcept
{
    in_ = &queue;
    since_ = interrupt_.worker().now();
    next_ = nullptr;
    previous_ = queue.last;
    (previous_ != nullptr ? previous_->next_ : queue.first) = this;
    queue.last = this;
    list_.wave_.on_rise(list_.resize(list_.size() + 1));
}

void half_open::leave() noexcept
{
    if (in_ == nullptr)
        return;
    (previous_ != nullptr ? previous_->next_ : in_->first) = next_;
    (next_ != nullptr ? next_->previous_ : in_->last) = previous_;
    in_ = nullptr;
    list_.wave_.on_fall(list_.resize(list_.size() - 1));
}

} // namespace cleat::app
