#include <cleat/net/interrupt.hpp>
#include <cleat/net/worker.hpp>

namespace cleat::net {

interrupt::interrupt(net::worker& owner) noexcept
    : deadline{&interrupt::on_expired}, worker_{&owner}
{
    next_ = std::exchange(owner.interrupts_, this);
    if (next_ != nullptr)
        next_->previous_ = this;
    ++owner.interrupts_count_;
    if (owner.interrupted_)
        raised_ = error::stopped;
}

interrupt::~interrupt()
{
    (previous_ != nullptr ? previous_->next_ : worker_->interrupts_) = next_;
    if (next_ != nullptr)
        next_->previous_ = previous_;
    --worker_->interrupts_count_;
}

void interrupt::expires_in(std::chrono::milliseconds delay, error reason)
{
    clear();
    reason_ = reason;
    if (delay > std::chrono::milliseconds::zero())
        worker_->arm(*this, delay);
}

void interrupt::clear() noexcept
{
    cancel();
    if (raised_ != error::stopped)
        raised_ = {};
}

void interrupt::raise(error reason) noexcept
{
    raised_ = reason;
    if (waiter* const w = std::exchange(waiting_, nullptr); w != nullptr)
        w->wake(*w, raised());
}

void interrupt::on_expired(deadline& d) noexcept
{
    interrupt& self = static_cast<interrupt&>(d);
    self.raise(self.reason_);
}

} // namespace cleat::net
