// worker_probe: a question to a worker, which shows that its loop turns.

#pragma once

#include <cleat/net/executor.hpp>
#include <cleat/net/worker.hpp>

#include <atomic>
#include <functional>
#include <utility>

namespace cleat::app {

/// worker_probe outlives its worker. One thread asks.
class worker_probe : net::task_node
{
public:
    /// on_answer is called on the worker's thread, in the turn in which it answers. Must not throw.
    worker_probe(net::worker& worker, std::function<void()> on_answer)
        : worker_{worker}, on_answer_{std::move(on_answer)}
    {
        finish = [](net::task_node& node, bool run) {
            worker_probe& self = static_cast<worker_probe&>(node);
            if (run)
                self.on_answer_();
            self.is_waiting_.store(false, std::memory_order_release);
        };
    }
    worker_probe(worker_probe&&) = delete;
    ~worker_probe() = default;

    /// ask does nothing while an earlier question waits for its answer.
    void ask() noexcept
    {
        if (!is_waiting_.exchange(true, std::memory_order_acquire))
            worker_.push(*this);
    }

    /// is_waiting: the worker has not answered yet.
    [[nodiscard]] bool is_waiting() const noexcept
    {
        return is_waiting_.load(std::memory_order_acquire);
    }

private:
    net::worker& worker_;
    std::function<void()> on_answer_;
    std::atomic<bool> is_waiting_{false};
};

} // namespace cleat::app
