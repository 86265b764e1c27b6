// engine_op: the one composed operation behind a stream's handshake, read, write and shutdown.

#pragma once

#include <cleat/net/channel.hpp>
#include <cleat/net/wait_queue.hpp>
#include <cleat/tls/context.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace cleat::net {

/// stream_core is what the operations of one stream share: a layer, and whose turn it is to wait on
/// the next one.
template <class Layer, class Executor>
struct stream_core
{
    using layer_type = Layer;

    explicit stream_core(tls::context const& use) : layer{use}, role{use.role()} {}

    Layer layer;
    tls::role role;
    bool begun = false; ///< A handshake has been started: what it asks of the peer is settled.
    wait_queue<Executor> reads;
    wait_queue<Executor> writes;
    error_code failed; ///< What a read that also gave bytes has left for the next one to say.

    [[nodiscard]] wait_queue<Executor>& queue_of(wait what) noexcept
    {
        return what == wait::readable ? reads : writes;
    }
};

/// unless_moved is a pointer that is null once what holds it has been moved from.
template <class T>
class unless_moved
{
public:
    explicit unless_moved(T* to) noexcept : to_{to} {}
    unless_moved(unless_moved&& other) noexcept : to_{std::exchange(other.to_, nullptr)} {}
    unless_moved& operator=(unless_moved&& other) noexcept
    {
        to_ = std::exchange(other.to_, nullptr);
        return *this;
    }
    explicit operator bool() const noexcept { return to_ != nullptr; }
    T& operator*() const noexcept { return *to_; }
    T* operator->() const noexcept { return to_; }

private:
    T* to_;
};

/// engine_op repeats an action until it is finished: it tries, and waits for what the action says
/// it waits for. An action batches, so there is one turn of this for each wake-up and not for each
/// record.
///
/// An action has `attempt(core, next)`, which gives a progress; `cancellable()`, the kinds of
/// cancellation that can be kept at this point; and `complete(self, ec)`.
template <class Core, class Next, class Action>
class engine_op
{
public:
    engine_op(Core& core, Next& next, Action action)
        : core_{&core}, next_{&next}, action_{std::move(action)}
    {
    }

    template <class Self>
    void operator()(Self& self, error_code ec = {}, std::size_t bytes = 0)
    {
        switch (at_) {
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
            core_->queue_of(waits_for_).leave();
            if (!ec && cancelled(self))
                ec = boost::asio::error::operation_aborted;
            if (ec)
                return finish(self, ec);
            break;
        case stage::last_words:
            core_->layer.end_wait(wait::writable, waiting_, ec, bytes, true);
            core_->queue_of(wait::writable).leave();
            return action_.complete(self, result_);
        }
        go_on(self);
    }

private:
    enum class stage : std::uint8_t
    {
        starting,
        queued,
        waiting,
        last_words,
        finished
    };

    static bool cancelled(auto& self) noexcept
    {
        return self.cancelled() != boost::asio::cancellation_type::none;
    }

    // A filter of Asio's is a type of its own for each set of kinds; this is one for any.
    struct allow
    {
        boost::asio::cancellation_type kinds;
        boost::asio::cancellation_type operator()(boost::asio::cancellation_type k) const noexcept
        {
            return k & kinds;
        }
    };
    [[nodiscard]] allow allowed() const noexcept { return {action_.cancellable()}; }

    template <class Self>
    void go_on(Self& self)
    {
        boost::asio::cancellation_type const before = action_.cancellable();
        progress const p = action_.attempt(*core_, *next_);
        if (p.error || p.next == wait::none)
            return p.error && core_->layer.unsent_after_failure() ? say_why(self, p.error)
                                                                  : finish(self, p.error);
        if (action_.cancellable() != before)
            self.reset_cancellation_state(allowed());
        wait_queue<typename Next::executor_type>& gate = core_->queue_of(p.next);
        if (gate.taken()) {
            at_ = stage::queued;
            return gate.async_queue(next_->get_executor(), std::move(self));
        }
        wait_for(self, p.next, stage::waiting);
    }

    template <class Self>
    void wait_for(Self& self, wait what, stage then)
    {
        stage const before = std::exchange(at_, then);
        waits_for_ = what;
        core_->queue_of(what).enter();
        try {
            // `waiting_` moves along with self; what it points to stays.
            core_->layer.start_wait(*next_, what, waiting_, std::move(self));
        } catch (std::bad_alloc const&) {
            // A layer that has taken the operation by now has ended it, and perhaps the stream.
            if (!core_)
                throw;
            core_->queue_of(what).leave();
            at_ = before;
            if (before == stage::starting)
                throw; // The caller hears that nothing was started.
            finish(
                self, then == stage::last_words
                          ? result_
                          : make_error_code(boost::system::errc::not_enough_memory));
        }
    }

    // The peer is owed an alert. Who is writing already sends it along.
    template <class Self>
    void say_why(Self& self, error_code ec)
    {
        result_ = ec;
        if (core_->queue_of(wait::writable).taken())
            return finish(self, ec);
        wait_for(self, wait::writable, stage::last_words);
    }

    // A handler never runs inside the function that started its operation.
    template <class Self>
    void finish(Self& self, error_code ec)
    {
        result_ = ec;
        if (std::exchange(at_, stage::finished) == stage::starting)
            return boost::asio::post(next_->get_executor(), std::move(self));
        action_.complete(self, ec);
    }

    unless_moved<Core> core_;
    Next* next_;
    Action action_;
    error_code result_;
    typename Core::layer_type::waiting waiting_;
    wait waits_for_ = wait::none;
    stage at_ = stage::starting;
};

/// block_on does what engine_op does, and lets the thread wait.
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
