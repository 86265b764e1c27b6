// connect_queue: where a worker's connections wait for an upstream that has no room.
//
// A UNIX socket whose backlog is full refuses at once, and the kernel does not notify anybody when
// it has room again, so the connections must try from time to time. Only the first of the queue
// tries: a thousand that wait cost as much as one, and connect in the order in which they came.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>

#include <coroutine>

namespace cleat::app {

/// connect_queue is one worker's, for its upstream. It outlives all places in it.
class connect_queue : deadline, net::task_node
{
public:
    explicit connect_queue(net::worker& worker);
    connect_queue(connect_queue&&) = delete;
    ~connect_queue() = default;

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

    class place;

private:
    static void on_time(deadline& d) noexcept;
    static void on_moved_up(net::task_node& n, bool run) noexcept;
    void wake_first() noexcept;

    net::worker& worker_;
    place* first_ = nullptr;
    place* last_ = nullptr;
    bool moved_up_ = false; // The first has left, and on_moved_up is queued to wake the next.
};

/// connect_queue::place is one connection's, at the end of the queue at first. Destroying it leaves
/// the queue, wherever it stands.
class connect_queue::place : net::waiter
{
public:
    place(connect_queue& queue, net::interrupt& interrupt) noexcept;
    place(place&&) = delete;
    ~place();

    /// reached is awaited: it ends when it is time to try the upstream (again), or with the reason
    /// that the interrupt was raised for.
    [[nodiscard]] auto reached() noexcept
    {
        struct awaiter
        {
            place& waiting;
            [[nodiscard]] bool await_ready() const noexcept
            {
                return bool{waiting.interrupt_.raised()};
            }
            void await_suspend(std::coroutine_handle<> caller) noexcept { waiting.wait(caller); }
            [[nodiscard]] error_code await_resume() const noexcept
            {
                return waiting.interrupt_.raised();
            }
        };
        return awaiter{*this};
    }

private:
    friend class connect_queue;

    void wait(std::coroutine_handle<> caller) noexcept;
    static void on_wake(net::waiter& w, error_code) noexcept;

    connect_queue& queue_;
    net::interrupt& interrupt_;
    place* previous_;
    place* next_ = nullptr;
    std::coroutine_handle<> caller_; // Null while it does not wait.
};

} // namespace cleat::app
