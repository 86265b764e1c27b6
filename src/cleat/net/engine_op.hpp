// engine_op: the composed operation that implements a stream's handshake, read, write and shutdown.

#pragma once

#include <cleat/net/channel.hpp>
#include <cleat/net/post_completion.hpp>
#include <cleat/net/wait_queue.hpp>
#include <cleat/tls/context.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace cleat::net {

/// stream_core is what the operations of one stream share: a layer, and the queues of operations
/// that want to wait on the next layer.
template <class Layer, class Executor>
struct stream_core
{
    /// layer_type is socket_layer or any_layer.
    using layer_type = Layer;

    /// stream_core with an engine of this context, which outlives it.
    explicit stream_core(tls::context const& context) : layer{context}, role{context.role()} {}

    /// The engine with its next layer, and the context's role.
    Layer layer;
    tls::role role;
    bool begun = false; ///< A handshake has been started: verification settings are fixed.
    /// The operations that wait to read from the next layer, and those that wait to write.
    wait_queue<Executor> reads;
    wait_queue<Executor> writes;
    error_code read_error; ///< From a read that also gave bytes, for the next read to return.

    /// queue_of is the queue for an event.
    [[nodiscard]] wait_queue<Executor>& queue_of(wait event) noexcept
    {
        return event == wait::readable ? reads : writes;
    }
};

/// unless_moved is a pointer that becomes null when its owner is moved from.
template <class T>
class unless_moved
{
public:
    /// Points to `target`.
    explicit unless_moved(T* target) noexcept : target_{target} {}
    unless_moved(unless_moved&& other) noexcept : target_{std::exchange(other.target_, nullptr)} {}
    unless_moved& operator=(unless_moved&& other) noexcept
    {
        target_ = std::exchange(other.target_, nullptr);
        return *this;
    }
    /// False where it was moved from.
    explicit operator bool() const noexcept { return target_ != nullptr; }
    /// The target. It must not have been moved from.
    T& operator*() const noexcept { return *target_; }
    T* operator->() const noexcept { return target_; }

private:
    T* target_;
};

/// engine_op repeats an action until it is finished: it attempts the action, and waits until the
/// next layer is readable or writable, as the action's progress asks. One attempt handles all
/// records that came with a wake-up.
///
/// An action has `attempt(core, next)`, which returns a progress; `cancellable()`, the kinds of
/// cancellation that it supports at this point; and `complete(self, ec)`.
template <class Core, class Next, class Action>
class engine_op
{
public:
    /// engine_op on a core and a next layer, which outlive it.
    engine_op(Core& core, Next& next, Action action)
        : core_{&core}, next_{&next}, action_{std::move(action)}
    {
    }

    /// Called by Asio at the start, and at the end of each wait.
    template <class Self>
    void operator()(Self& self, error_code ec = {}, std::size_t bytes = 0)
    {
        switch (stage_) {
        case stage::finished:
            return action_.complete(self, result_);
        case stage::starting:
            self.reset_cancellation_state(allowed());
            break;
        case stage::queued:
            if (cancelled(self))
                return finish(self, boost::asio::error::operation_aborted);
            break;
        case stage::waiting:
            ec = core_->layer.end_wait(waits_for_, waiting_, ec, bytes, cancelled(self));
            core_->queue_of(waits_for_).end_wait();
            if (!ec && cancelled(self))
                ec = boost::asio::error::operation_aborted;
            if (ec)
                return finish(self, ec);
            break;
        case stage::sending_alert:
            core_->layer.end_wait(wait::writable, waiting_, ec, bytes, true);
            core_->queue_of(wait::writable).end_wait();
            return action_.complete(self, result_);
        }
        attempt(self);
    }

private:
    enum class stage : std::uint8_t
    {
        starting,
        queued,
        waiting,
        sending_alert,
        finished
    };

    static bool cancelled(auto& self) noexcept
    {
        return self.cancelled() != boost::asio::cancellation_type::none;
    }

    // Asio's filters have one type for each set of kinds; this one takes any set.
    struct cancellation_filter
    {
        boost::asio::cancellation_type kinds;
        boost::asio::cancellation_type operator()(boost::asio::cancellation_type k) const noexcept
        {
            return k & kinds;
        }
    };
    [[nodiscard]] cancellation_filter allowed() const noexcept { return {action_.cancellable()}; }

    template <class Self>
    void attempt(Self& self)
    {
        boost::asio::cancellation_type const before = action_.cancellable();
        progress const p = action_.attempt(*core_, *next_);
        if (p.error || p.next == wait::none)
            return p.error && core_->layer.unsent_after_failure() ? send_alert(self, p.error)
                                                                  : finish(self, p.error);
        if (action_.cancellable() != before)
            self.reset_cancellation_state(allowed());
        wait_queue<typename Next::executor_type>& queue = core_->queue_of(p.next);
        if (queue.busy()) {
            stage_ = stage::queued;
            return queue.async_queue(next_->get_executor(), std::move(self));
        }
        wait_for(self, p.next, stage::waiting);
    }

    template <class Self>
    void wait_for(Self& self, wait event, stage next_stage)
    {
        stage const before = std::exchange(stage_, next_stage);
        waits_for_ = event;
        core_->queue_of(event).begin_wait();
        try {
            // `waiting_` moves along with self; the block that it points to stays.
            core_->layer.start_wait(*next_, event, waiting_, std::move(self));
        } catch (std::bad_alloc const&) {
            // core_ is null once start_wait has moved self away: then the operation has ended, and
            // the stream may be destroyed.
            if (!core_)
                throw;
            core_->queue_of(event).end_wait();
            stage_ = before;
            if (before == stage::starting)
                throw; // The initiating function throws it: no operation was started.
            finish(
                self, next_stage == stage::sending_alert
                          ? result_
                          : make_error_code(boost::system::errc::not_enough_memory));
        }
    }

    // The failed attempt left an alert for the peer. A pending write, if there is one, sends it.
    template <class Self>
    void send_alert(Self& self, error_code ec)
    {
        result_ = ec;
        if (core_->queue_of(wait::writable).busy())
            return finish(self, ec);
        wait_for(self, wait::writable, stage::sending_alert);
    }

    template <class Self>
    void finish(Self& self, error_code ec)
    {
        result_ = ec;
        if (std::exchange(stage_, stage::finished) == stage::starting)
            return post_completion(std::move(self), next_->get_executor());
        action_.complete(self, ec);
    }

    unless_moved<Core> core_;
    Next* next_;
    Action action_;
    error_code result_;
    typename Core::layer_type::waiting waiting_;
    wait waits_for_ = wait::none;
    stage stage_ = stage::starting;
};

/// block_on does what engine_op does, and blocks the thread while it waits.
template <class Core, class Next, class Action>
error_code block_on(Core& core, Next& next, Action& action)
{
    typename Core::layer_type::waiting waiting;
    for (;;) {
        progress const p = action.attempt(core, next);
        while (p.error && core.layer.unsent_after_failure())
            if (core.layer.block(next, wait::writable, waiting))
                break;
        if (p.error || p.next == wait::none)
            return p.error;
        if (error_code const ec = core.layer.block(next, p.next, waiting))
            return ec;
    }
}

} // namespace cleat::net
