#include <cleat/net/interrupt.hpp>
#include <cleat/net/worker.hpp>

namespace cleat::net {

interrupt::interrupt(worker& on) noexcept : deadline{&interrupt::on_expired}, on_{&on}
{
    next_ = std::exchange(on.interrupts_, this);
    if (next_ != nullptr)
        next_->previous_ = this;
    ++on.interrupts_count_;
    if (on.interrupted_)
        raised_ = error::stopped;
}

interrupt::~interrupt()
{
    (previous_ != nullptr ? previous_->next_ : on_->interrupts_) = next_;
    if (next_ != nullptr)
        next_->previous_ = previous_;
    --on_->interrupts_count_;
}

void interrupt::expires_in(std::chrono::milliseconds in, error why)
{
    clear();
    why_ = why;
    if (in > std::chrono::milliseconds::zero())
        on_->arm(*this, in);
}

void interrupt::clear() noexcept
{
    cancel();
    if (raised_ != error::stopped)
        raised_ = {};
}

void interrupt::raise(error why) noexcept
{
    raised_ = why;
    if (waiter* const w = std::exchange(waiting_, nullptr); w != nullptr)
        w->wake(*w, raised_);
}

void interrupt::on_expired(deadline& d) noexcept
{
    interrupt& self = static_cast<interrupt&>(d);
    self.raise(self.why_);
}

} // namespace cleat::net
