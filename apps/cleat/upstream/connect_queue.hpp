// connect_queue: the queue of a worker's connections that wait for a UNIX upstream whose backlog is
// full.
//
// Such a socket refuses at once, and no event reports that it has room again, so the connections
// must try again and again. Only the first of the queue tries: a thousand connections that wait
// cost as much as one, and they connect in their order of arrival.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>

#include <coroutine>

namespace cleat::app {

/// connect_queue belongs to one worker. It outlives all places in it.
class connect_queue : deadline, net::task_node
{
public:
    explicit connect_queue(net::worker& worker);
    connect_queue(connect_queue&&) = delete;
    ~connect_queue() = default;

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

    /// try_again: there may be room, so the first tries in a later pass of the worker's loop,
    /// without a pause.
    void try_again() noexcept;

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

/// connect_queue::place is one connection's place, at first the last of the queue. Its destructor
/// takes it out of the queue.
class connect_queue::place : net::waiter
{
public:
    place(connect_queue& queue, net::interrupt& interrupt) noexcept;
    place(place&&) = delete;
    ~place();

    /// reached: await it before each attempt. It ends when this place is the first and it is time
    /// to try, or with the interrupt's reason.
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
