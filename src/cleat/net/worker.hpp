// worker: the event loop of one thread, with everything that its connections use.

#pragma once

#include <cleat/core/cpu_budget.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/core/inbox.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/priority.hpp>
#include <cleat/net/readiness.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>

namespace cleat::net {

/// worker is an event loop: readiness of descriptors, deadlines, functions to run, and an
/// io_context for Asio objects. Everything in it belongs to the thread that calls run; from other
/// threads only its executor, push, stop, number and passes may be used.
///
/// Sockets of the worker wait on its own epoll set (readiness). The io_context costs nothing until
/// an Asio object uses it; then the same loop waits for the events of both.
class worker
{
public:
    /// clock is monotonic.
    using clock = deadline::clock;

    /// number identifies the worker among the others, for logs and counters. Throws
    /// std::system_error.
    explicit worker(std::size_t number = 0);
    worker(worker&&) = delete;
    ~worker();

    /// number is that of the constructor. Any thread.
    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    /// get_executor runs functions on this worker's thread. Any thread.
    [[nodiscard]] executor get_executor() noexcept { return executor{*this}; }

    /// set_handshake_time sets the time for handshakes in each pass, and as much again for
    /// handshakes with priority::signature. The default is limits::handshake_time. While handshakes
    /// with priority::signature wait, the others have limits::crowd_time at least.
    void set_handshake_time(std::chrono::microseconds time) noexcept { handshake_time_ = time; }

    /// limit_cpu makes transfers and handshakes wait where the process would otherwise use up the
    /// quota of its control group: the kernel would then stop established connections, too. Without
    /// a value there is no quota.
    void limit_cpu(std::optional<cpu_limit> limit) noexcept;

    /// credit_waits is how often this worker has waited because of limit_cpu, with transfers or
    /// handshakes to do. Any thread.
    [[nodiscard]] std::uint64_t credit_waits() const noexcept
    {
        return credit_waits_.load(std::memory_order_relaxed);
    }

    /// run serves until stop. Then it raises error::stopped for every open connection, whose tasks
    /// end before it returns; functions that are still queued are destroyed, not called.
    ///
    /// Where a function or an Asio handler throws std::bad_alloc, it is destroyed and the loop goes
    /// on: lack of memory ends one connection. Any other exception ends the program.
    void run();

    /// stop ends run after the current pass of the loop. Any thread.
    void stop() noexcept;

    /// now is the time when the loop last woke up. Precise enough for deadlines, and without a
    /// system call.
    [[nodiscard]] clock::time_point now() const noexcept { return now_; }

    /// interrupt_all raises error::stopped for every connection of this worker, and for later ones.
    void interrupt_all() noexcept;

    /// interruptible is the number of interrupts: one for each connection.
    [[nodiscard]] std::size_t interruptible() const noexcept { return interrupts_count_; }

    /// passes counts the passes of the loop. A caller compares two counts to see whether its wait
    /// ended in the first pass after it began. Any thread.
    [[nodiscard]] std::uint64_t passes() const noexcept
    {
        return passes_.load(std::memory_order_relaxed);
    }

    /// longest_turn_window is the time that longest_turn looks back, at least.
    static constexpr std::chrono::seconds longest_turn_window{60};
    /// longest_turn is the longest turn of the last longest_turn_window, and of up to as long
    /// before. A turn is a pass of the loop without its wait for events. Any thread: a reader that
    /// asks the worker for something first has the turns up to then.
    [[nodiscard]] std::chrono::nanoseconds longest_turn() const noexcept
    {
        return std::chrono::nanoseconds{std::max(
            longest_turn_.load(std::memory_order_relaxed),
            longest_turn_before_.load(std::memory_order_relaxed))};
    }

    /// arm makes d expire `delay` from now. Each different delay has a queue of its own, so use few
    /// different delays.
    void arm(deadline& d, std::chrono::milliseconds delay);

    /// readiness is the worker's epoll set.
    [[nodiscard]] net::readiness& readiness() noexcept { return readiness_; }

    /// push queues a node that the caller owns, without an allocation; the executor queues any
    /// function. Any thread.
    void push(task_node& node) noexcept;

    /// push_here queues such a node with a priority. This worker's thread only.
    void push_here(task_node& node, priority level) noexcept { queue_of(level).push(node); }

    /// time_is_up: the time that this pass has for the present priority is used up. A function that
    /// could do more, such as accept another connection, returns.
    [[nodiscard]] bool time_is_up() const noexcept { return clock::now() >= time_up_; }

private:
    friend class executor;
    friend class interrupt;

    // An io_context that can be shut down while the worker's queue still exists: the destructors of
    // its handlers may queue functions.
    struct asio_context : boost::asio::io_context
    {
        using boost::asio::execution_context::shutdown;
        using boost::asio::io_context::io_context;
    };

    [[nodiscard]] task_queue& queue_of(priority level) noexcept
    {
        return ready_[static_cast<std::size_t>(level)];
    }
    void run_passes();
    [[nodiscard]] bool any_ready() const noexcept;
    void take_from_others() noexcept;
    void run_some(task_queue& queue, clock::duration time) noexcept;
    void run_handshakes() noexcept;
    void charge_cpu_time() noexcept;
    void end_tasks() noexcept;
    bool asio_has_work();
    void wait_for_events(bool with_asio);
    void wait_with_asio(clock::duration timeout);
    [[nodiscard]] bool has_cpu_time() noexcept;
    [[nodiscard]] clock::duration time_to_wait() noexcept;
    void end_turn(clock::time_point now) noexcept;
    void renew_turns() noexcept;
    void expire() noexcept;

    std::size_t number_;
    net::readiness readiness_;
    clock::time_point now_ = clock::now();
    std::deque<fifo_deadlines> deadlines_;

    interrupt* interrupts_ = nullptr;
    std::size_t interrupts_count_ = 0;
    bool interrupted_ = false;
    std::atomic<std::uint64_t> passes_{0}; // Written by this thread alone.

    bool in_turn_ = false;                      // Its end is not measured yet.
    clock::time_point turns_since_{};           // The beginning of longest_turn_'s window.
    std::atomic<std::int64_t> longest_turn_{0}; // In nanoseconds. Written by this thread alone, as
    std::atomic<std::int64_t> longest_turn_before_{0}; // that of the window before.

    std::array<task_queue, priority_count> ready_;
    clock::time_point time_up_{};
    std::chrono::microseconds handshake_time_ = limits::handshake_time;
    bool skips_signatures_ = false;              // The last pass had no credit for them.
    std::optional<cpu_budget> budget_;           // Where a quota can stop this worker.
    std::atomic<std::uint64_t> credit_waits_{0}; // Written by this thread alone.
    clock::time_point charged_{};                // When charge_cpu_time last read the CPU clock.
    inbox<task_node, &task_node::next> from_others_; // Functions from other threads.
    std::atomic<std::thread::id> thread_{};
    std::atomic<bool> stopping_{false};

    asio_context io_{1};
    boost::asio::posix::stream_descriptor watch_; // A copy of our epoll set's descriptor.
    bool watching_ = false;                       // Asio waits for watch_ to be readable.
    unsigned passes_with_asio_ = 0;

    entry_ptr wakeup_; // An eventfd that other threads write to.
    waiter on_wakeup_;
};

} // namespace cleat::net
