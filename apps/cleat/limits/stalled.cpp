#include "limits/stalled.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>

#include <utility>

namespace cleat::app {

// The list is in the order of since_, because each look, too, appends a place.
void stalled_list::evict(std::size_t count, net::worker::clock::time_point now) noexcept
{
    for (std::size_t looks = count * looks_for_each; count != 0 && looks != 0; --looks) {
        stalled* const oldest = first_;
        if (oldest == nullptr || now - oldest->since_ < limits::stalled_after)
            return;
        std::size_t const left = oldest->receiver_->unacknowledged();
        count -= left != 0 ? 1 : 0;
        if (left == 0 || std::exchange(oldest->unacknowledged_, left) != left) {
            net::socket const* const receiver = oldest->receiver_;
            oldest->leave();
            oldest->receiver_ = receiver;
            oldest->append(now);
            oldest->unacknowledged_ = left;
            continue;
        }
        // This resumes the connection, which destroys its place, and may end others.
        net::interrupt& interrupt = oldest->interrupt_;
        oldest->leave();
        interrupt.raise(error::stalled_evicted);
    }
}

void stalled::join(net::socket const& receiver, std::uint64_t taken) noexcept
{
    if (list_ == nullptr || (receiver_ == &receiver && taken_ == taken))
        return;
    leave();
    receiver_ = &receiver;
    taken_ = taken;
    unacknowledged_ = 0;
    append(interrupt_.worker().now());
}

void stalled::append(net::worker::clock::time_point now) noexcept
{
    since_ = now;
    next_ = nullptr;
    previous_ = list_->last_;
    (previous_ != nullptr ? previous_->next_ : list_->first_) = this;
    list_->last_ = this;
    ++list_->size_;
}

void stalled::leave() noexcept
{
    if (receiver_ == nullptr)
        return;
    (previous_ != nullptr ? previous_->next_ : list_->first_) = next_;
    (next_ != nullptr ? next_->previous_ : list_->last_) = previous_;
    receiver_ = nullptr;
    --list_->size_;
}

} // namespace cleat::app
