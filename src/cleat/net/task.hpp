// task: a coroutine on a worker, and its waits. No executor, and no allocation except its frame.
//
// asio::awaitable costs three frames to start and one more for each thing awaited: about 1.4 KB for
// an idle connection, and 2 us of each handshake. The terminator's connections are tasks. The
// handlers of net::server, which may use all of Asio, are asio::awaitable.

#pragma once

#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleat::net {

template <class T = void>
class task;

namespace detail {

// std::bad_alloc is the one exception that may leave a coroutine: it goes on to the caller that
// awaits it, and ends one connection, in `detached` at the latest. Nothing else on the data path
// throws: any other exception is a bug and ends the program here.
inline void allow_only_out_of_memory() noexcept
{
    try {
        throw;
    } catch (std::bad_alloc const&) {
    }
}

struct promise_base
{
    std::coroutine_handle<> caller;

    static std::suspend_always initial_suspend() noexcept { return {}; }
    static void unhandled_exception() noexcept { allow_only_out_of_memory(); }

    struct resume_caller
    {
        static bool await_ready() noexcept { return false; }
        template <class Promise>
        static std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept
        {
            return ended.promise().caller;
        }
        static void await_resume() noexcept {}
    };
    static resume_caller final_suspend() noexcept { return {}; }
};

template <class T>
struct promise : promise_base
{
    std::optional<T> value;

    task<T> get_return_object() noexcept;
    void return_value(T v) noexcept(std::is_nothrow_move_constructible_v<T>)
    {
        value.emplace(std::move(v));
    }
    T take()
    {
        if (!value) // An exception has ended it, which can only be this one.
            throw std::bad_alloc{};
        return std::move(*value);
    }
};

template <>
struct promise<void> : promise_base
{
    bool done = false;

    task<void> get_return_object() noexcept;
    void return_void() noexcept { done = true; }
    void take() const
    {
        if (!done)
            throw std::bad_alloc{};
    }
};

} // namespace detail

/// task<T> is a coroutine that starts when it is awaited and gives its caller a T. It is awaited
/// once, on the thread that it runs on. The task object owns the frame. A call of the coroutine
/// throws std::bad_alloc where there is no memory for its frame. co_await throws it where the
/// coroutine itself ran out of memory.
template <class T>
class [[nodiscard]] task
{
public:
    /// For the compiler.
    using promise_type = detail::promise<T>;

    task(task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
    task& operator=(task&&) = delete;
    ~task()
    {
        if (frame_)
            frame_.destroy();
    }

    /// For co_await.
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept
    {
        frame_.promise().caller = caller;
        return frame_;
    }
    T await_resume() { return frame_.promise().take(); }

private:
    friend promise_type;

    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

    std::coroutine_handle<promise_type> frame_;
};

template <class T>
task<T> detail::promise<T>::get_return_object() noexcept
{
    return task<T>{std::coroutine_handle<promise<T>>::from_promise(*this)};
}

inline task<void> detail::promise<void>::get_return_object() noexcept
{
    return task<void>{std::coroutine_handle<promise<void>>::from_promise(*this)};
}

/// detached is a coroutine without a caller that awaits it: calling it runs it up to its first
/// wait, and its frame is freed when it ends. Its parameters are values, because its caller does
/// not wait for it. Where memory runs out it ends, and its objects are destroyed; its call throws
/// std::bad_alloc where there is none for the frame.
struct detached
{
    /// For the compiler.
    struct promise_type
    {
        /// For the compiler.
        static detached get_return_object() noexcept { return {}; }
        static std::suspend_never initial_suspend() noexcept { return {}; }
        static std::suspend_never final_suspend() noexcept { return {}; }
        static void return_void() noexcept {}
        static void unhandled_exception() noexcept { detail::allow_only_out_of_memory(); }
    };
};

/// interest is the events of one descriptor that a wait is for.
struct interest
{
    /// The descriptor, null for none; and whether to wake when it can be read, or written.
    readiness::entry* entry = nullptr;
    bool read = false;
    bool write = false;
    bool broken = false; ///< Wake for a reset also without read and write.
};

/// ready waits until any of its interests is ready, or the interrupt is raised. `co_await` gives
/// the interrupt's reason, epoll_ctl's error, or no error.
///
/// Where an interest is ready already, the coroutine is queued after the worker's other
/// connections, so that a connection that always has more to do cannot occupy the worker. Where an
/// interest becomes ready later, the coroutine is resumed at once if the first interest's
/// descriptor has the priority `established`, and is queued otherwise.
class [[nodiscard]] ready : waiter, task_node
{
public:
    /// ready for the descriptors of one connection, whose interrupt ends the wait.
    ready(net::interrupt& interrupt, interest first, interest second = {}) noexcept
        : interrupt_{interrupt}, interests_{first, second}
    {
    }
    ready(ready&&) = delete;

    /// For co_await.
    [[nodiscard]] bool await_ready() noexcept
    {
        error_ = interrupt_.raised();
        return static_cast<bool>(error_);
    }

    /// For co_await.
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> caller) noexcept
    {
        caller_ = caller;
        finish = &ready::on_dequeued;
        if (any_ready()) {
            enqueue();
            return true;
        }
        wake = &ready::on_wake;
        for (interest const& i : interests_)
            if (!begin(i))
                return false;
        interrupt_.guard(this);
        return true;
    }

    /// For co_await.
    [[nodiscard]] error_code await_resume() const noexcept { return error_; }

    /// found_in is the pass of the worker's loop in which an interest was found ready.
    [[nodiscard]] std::uint64_t found_in() const noexcept { return found_in_; }

private:
    [[nodiscard]] priority priority_of_wait() const noexcept
    {
        readiness::entry const* const first = interests_.front().entry;
        return first == nullptr ? priority::established : first->priority();
    }

    void enqueue() noexcept
    {
        found_in_ = interrupt_.worker().passes();
        interrupt_.worker().push_here(*this, priority_of_wait());
    }

    [[nodiscard]] bool any_ready() const noexcept
    {
        for (interest const& i : interests_)
            if ((i.read && i.entry->readable()) || (i.write && i.entry->writable()) ||
                (i.broken && i.entry->broken()))
                return true;
        return false;
    }

    [[nodiscard]] bool begin(interest const& i) noexcept
    {
        error_code ec;
        if (i.read)
            ec = i.entry->wait_readable(*this);
        if (i.write && !ec)
            ec = i.entry->wait_writable(*this);
        if (i.broken && !i.read && !i.write)
            ec = i.entry->wait_broken(*this);
        if (ec)
            end(ec);
        return !ec;
    }

    void end(error_code ec) noexcept
    {
        error_ = ec;
        interrupt_.guard(nullptr);
        for (interest const& i : interests_)
            if (i.entry != nullptr)
                i.entry->forget(*this);
    }

    static void on_wake(waiter& w, error_code ec) noexcept
    {
        ready& self = static_cast<ready&>(w);
        self.end(ec);
        self.found_in_ = self.interrupt_.worker().passes();
        if (ec || self.priority_of_wait() == priority::established)
            self.caller_.resume();
        else
            self.enqueue();
    }

    // A deadline that passed while the coroutine was queued ends its next wait, not this one, whose
    // descriptor is ready. A worker that stops raises error::stopped first and then calls this with
    // `false`, so that the coroutine can end.
    static void on_dequeued(task_node& n, bool) noexcept
    {
        ready& self = static_cast<ready&>(n);
        if (self.interrupt_.raised() == error::stopped)
            self.error_ = error::stopped;
        self.caller_.resume();
    }

    net::interrupt& interrupt_;
    std::array<interest, 2> interests_;
    std::coroutine_handle<> caller_;
    error_code error_;
    std::uint64_t found_in_ = 0;
};

/// pause waits until the interrupt is raised: set its deadline first.
[[nodiscard]] inline auto pause(net::interrupt& interrupt) noexcept
{
    return ready{interrupt, {}};
}

} // namespace cleat::net
