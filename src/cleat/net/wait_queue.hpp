// wait_queue: lets one operation at a time wait to read from a stream's next layer, or to write to
// it; the others queue.

#pragma once

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace cleat::net {

/// wait_queue keeps two operations from waiting for the same thing: a shutdown that needs to read
/// waits until a pending read has completed. It has no lock: the operations of one stream run on
/// one thread, or on one strand. It allocates when the first operation has to queue.
template <class Executor>
class wait_queue
{
public:
    /// busy: an operation is waiting on the next layer.
    [[nodiscard]] bool busy() const noexcept { return busy_; }

    /// begin_wait: an operation begins to wait on the next layer.
    void begin_wait() noexcept { busy_ = true; }

    /// end_wait lets all queued operations try again.
    void end_wait()
    {
        busy_ = false;
        if (queue_)
            queue_->cancel();
    }

    /// async_queue completes when it is time to try again, or when the operation was cancelled. Do
    /// not use its error, which is the timer's: the operation's cancellation state tells the two
    /// apart.
    template <class Handler>
    void async_queue(Executor const& executor, Handler&& handler)
    {
        if (!queue_)
            queue_ = std::make_unique<timer>(executor, timer::time_point::max());
        queue_->async_wait(std::forward<Handler>(handler));
    }

private:
    using timer = boost::asio::basic_waitable_timer<
        std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

    bool busy_ = false;
    std::unique_ptr<timer> queue_;
};

} // namespace cleat::net
