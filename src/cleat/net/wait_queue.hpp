// wait_queue: lets one operation at a time wait on one side of a layer below; the others queue.

#pragma once

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace cleat::net {

/// wait_queue keeps two operations from waiting for the same thing: a shutdown that wants to read
/// while a read is on its way has to let it come back first. It has no lock: the operations of one
/// stream run on one thread, or on one strand. It owns nothing until somebody has to queue.
template <class Executor>
class wait_queue
{
public:
    [[nodiscard]] bool taken() const noexcept { return taken_; }

    void enter() noexcept { taken_ = true; }

    /// leave lets those who queue try again, all of them.
    void leave()
    {
        taken_ = false;
        if (queue_)
            queue_->cancel();
    }

    /// async_queue completes, with whatever error, when it is time to try again, or when the
    /// operation was cancelled: the caller knows which.
    template <class Handler>
    void async_queue(Executor const& on, Handler&& handler)
    {
        if (!queue_)
            queue_ = std::make_unique<timer>(on, timer::time_point::max());
        queue_->async_wait(std::forward<Handler>(handler));
    }

private:
    using timer = boost::asio::basic_waitable_timer<
        std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

    bool taken_ = false;
    std::unique_ptr<timer> queue_;
};

} // namespace cleat::net
