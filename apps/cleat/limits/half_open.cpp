#include "limits/half_open.hpp"

#include <cleat/core/error.hpp>

namespace cleat::app {

// Raising an interrupt resumes the connection, which destroys its place, and may end others.
void half_open_list::evict(std::size_t count) noexcept
{
    for (; count != 0 && next_to_end() != nullptr; --count) {
        half_open& ended = *next_to_end();
        net::interrupt& interrupt = ended.interrupt_;
        ended.leave();
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

void half_open::join(half_open_list::queue& to) noexcept
{
    in_ = &to;
    next_ = nullptr;
    previous_ = to.last;
    (previous_ != nullptr ? previous_->next_ : to.first) = this;
    to.last = this;
    ++list_.size_;
}

void half_open::leave() noexcept
{
    if (in_ == nullptr)
        return;
    (previous_ != nullptr ? previous_->next_ : in_->first) = next_;
    (next_ != nullptr ? next_->previous_ : in_->last) = previous_;
    in_ = nullptr;
    --list_.size_;
}

} // namespace cleat::app
