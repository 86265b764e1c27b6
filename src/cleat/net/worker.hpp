// worker: one thread with everything that it needs to serve its connections.

#pragma once

#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/priority.hpp>
#include <cleat/net/readiness.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>

namespace cleat::net {

/// worker is an event loop: readiness of descriptors, deadlines, functions to run, and an
/// io_context for Asio objects. Everything in it belongs to the thread that calls run; from other
/// threads only its executor and stop may be used.
///
/// Its own sockets wait on its own epoll set. The io_context costs nothing until something uses it,
/// and then its events are waited for in the same loop.
class worker
{
public:
    using clock = deadline::clock;

    /// number is the worker's place among its like, for logs and counters. Throws
    /// std::system_error.
    explicit worker(std::size_t number = 0);
    worker(worker&&) = delete;
    ~worker();

    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    [[nodiscard]] executor get_executor() noexcept { return executor{*this}; }

    /// run serves until stop. Then it raises error::stopped for every connection that is still
    /// there, and their tasks come to their ends before it returns; functions that are still queued
    /// are destroyed, not run.
    ///
    /// A function or an Asio handler that throws std::bad_alloc is gone, with what it owned, and
    /// the loop goes on: want of memory ends one connection. Any other exception ends the program.
    void run();

    /// stop ends run after the functions and events in hand. Any thread.
    void stop() noexcept;

    /// now is when the loop last woke up. Good enough for deadlines, and free.
    [[nodiscard]] clock::time_point now() const noexcept { return now_; }

    /// interrupt_all raises error::stopped for every connection of this worker, and for those to
    /// come.
    void interrupt_all() noexcept;

    /// interruptible is how many interrupts there are: connections, and listeners that accept.
    [[nodiscard]] std::size_t interruptible() const noexcept { return interrupts_count_; }

    /// turns counts the loop's turns: who was woken in the turn after the last one came back at
    /// once.
    [[nodiscard]] std::uint64_t turns() const noexcept { return turns_; }

    /// arm makes d expire `in` from now. Few different durations are expected: each has a queue.
    void arm(deadline& d, std::chrono::milliseconds in);

    [[nodiscard]] net::readiness& readiness() noexcept { return readiness_; }

    /// push queues a function that brings its own memory. Any thread; use the executor for others.
    void push(task_node& node) noexcept;

    /// push_here queues one among those of its priority. This worker's thread only.
    void push_here(task_node& node, priority with) noexcept { queue_of(with).push(node); }

    /// time_is_up: a function that runs now, and could go on, is to let others have their turn.
    [[nodiscard]] bool time_is_up() const noexcept { return clock::now() >= time_up_; }

private:
    friend class executor;
    friend class interrupt;

    // An io_context whose end can be had while there is still a queue for what its handlers own.
    struct asio_context : boost::asio::io_context
    {
        using boost::asio::execution_context::shutdown;
        using boost::asio::io_context::io_context;
    };

    [[nodiscard]] task_queue& queue_of(priority p) noexcept
    {
        return ready_[static_cast<std::size_t>(p)];
    }
    [[nodiscard]] bool any_ready() const noexcept;
    void take_from_others() noexcept;
    void run_some(priority which, clock::duration longest) noexcept;
    void settle_cpu_account() noexcept;
    void end_tasks() noexcept;
    bool asio_has_work();
    void wait_for_events(bool with_asio);
    void wait_with_asio(int timeout_ms);
    [[nodiscard]] int timeout_ms() noexcept;
    void expire() noexcept;

    std::size_t number_;
    net::readiness readiness_;
    clock::time_point now_ = clock::now();
    std::deque<fifo_deadlines> deadlines_;

    interrupt* interrupts_ = nullptr;
    std::size_t interrupts_count_ = 0;
    bool interrupted_ = false;
    std::uint64_t turns_ = 0;

    // Functions from this thread, and those from others: a stack that is taken whole.
    std::array<task_queue, priority_count> ready_;
    clock::time_point time_up_{};
    clock::time_point settled_{};
    std::atomic<task_node*> from_others_{nullptr};
    std::atomic<std::thread::id> thread_{};
    std::atomic<bool> stopping_{false};

    asio_context io_{1};
    boost::asio::posix::stream_descriptor watch_; // Our epoll set, as Asio sees it.
    bool watching_ = false;
    unsigned turns_with_asio_ = 0;

    entry_ptr wakeup_; // An eventfd that other threads write to.
    waiter on_wakeup_;
};

} // namespace cleat::net
