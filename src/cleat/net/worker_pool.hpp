// worker_pool: workers on threads of their own, that share nothing.

#pragma once

#include <cleat/net/worker.hpp>

#include <boost/asio/execution/blocking.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace cleat::net {

/// worker_pool_spec is what a worker_pool is made from.
struct worker_pool_spec
{
    std::size_t workers = 0; ///< 0: as many as the CPUs that this process may use.
    /// Each thread stays on a CPU of its own; physical cores first, then siblings.
    bool pin = true;

    /// Called on each worker's thread before it serves, and after. Make a worker's objects here:
    /// their memory is then on the worker's NUMA node and in the thread's own arena. `begin` may
    /// throw.
    std::function<void(worker&)> begin{};
    std::function<void(worker&)> end{};
};

/// worker_count is the number of workers that a pool makes for a setting; 0: as many as the CPUs
/// that this process may use.
[[nodiscard]] std::size_t worker_count(std::size_t setting);

/// worker_pool owns workers and their threads. It is used by one thread, which is not a worker's;
/// broadcast may be called by any thread.
class worker_pool
{
public:
    /// Starts all workers, or none: rethrows an exception of `begin`, or throws std::system_error.
    explicit worker_pool(worker_pool_spec spec = {});
    worker_pool(worker_pool&&) = delete;
    ~worker_pool() { stop(); }

    /// size is the number of workers.
    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
    /// The worker of this number; the first has 0.
    [[nodiscard]] worker& operator[](std::size_t number) noexcept { return *workers_[number]; }

    /// broadcast calls a copy of f with each worker, on its thread, and does not wait for it. Two
    /// broadcasts of one thread reach every worker in the same order.
    template <class F>
    void broadcast(F const& f)
    {
        for (std::unique_ptr<worker> const& each : workers_)
            each->get_executor()
                .require(boost::asio::execution::blocking.never)
                .execute([f, target = each.get()]() mutable { f(*target); });
    }

    /// follow_cpu_limit reads the control group's quota of CPU again, and gives it to the workers.
    void follow_cpu_limit();

    /// busy is the number of connections of all workers. It asks each worker, and blocks meanwhile.
    [[nodiscard]] std::size_t busy();

    /// drain waits until no worker is busy, at most `timeout`, and returns how many connections are
    /// left. Stop accepting first.
    std::size_t drain(std::chrono::milliseconds timeout);

    /// interrupt_all raises error::stopped for every connection, as worker::interrupt_all does.
    void interrupt_all()
    {
        broadcast([](worker& each) { each.interrupt_all(); });
    }

    /// stop ends the workers after the current pass of their loops, and waits for their threads.
    /// Tasks that still wait end by error::stopped. Handlers of Asio operations that still wait are
    /// destroyed, not called: call drain or interrupt_all first.
    void stop() noexcept;

private:
    void run(std::size_t number, int cpu, std::promise<void>& began);

    worker_pool_spec spec_;
    std::optional<cpu_limit> limit_; // A quota that workers alone can use up.
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
};

} // namespace cleat::net
