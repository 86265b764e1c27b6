// worker_pool: workers on threads, one for each core, that share nothing.

#pragma once

#include <cleat/net/worker.hpp>

#include <boost/asio/execution/blocking.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace cleat::net {

struct worker_pool_spec
{
    std::size_t workers = 0; ///< 0: as many as the CPUs that this process may use.
    /// Each thread stays on a CPU of its own; physical cores first, then siblings.
    bool pin = true;

    /// Called on each worker's thread before it serves, and after. What a worker needs is best made
    /// here: its memory is then near, and from the thread's own arena. May throw in `begin`.
    std::function<void(worker&)> begin{};
    std::function<void(worker&)> end{};
};

/// worker_count is how many workers a pool has when asked for that many; 0 asks the machine.
[[nodiscard]] std::size_t worker_count(std::size_t asked);

/// worker_pool owns workers and their threads. It is used by one thread, which is none of them;
/// broadcast may be called from any.
class worker_pool
{
public:
    /// Starts all workers, or none: throws what `begin` threw, or std::system_error.
    explicit worker_pool(worker_pool_spec spec = {});
    worker_pool(worker_pool&&) = delete;
    ~worker_pool() { stop(); }

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
    [[nodiscard]] worker& operator[](std::size_t number) noexcept { return *workers_[number]; }

    /// broadcast calls a copy of f with each worker, on its thread, and does not wait for it.
    /// Workers hear of two broadcasts in the same order.
    template <class F>
    void broadcast(F const& f)
    {
        for (std::unique_ptr<worker> const& each : workers_)
            each->get_executor()
                .require(boost::asio::execution::blocking.never)
                .execute([f, on = each.get()]() mutable { f(*on); });
    }

    /// busy is how many connections all workers have. It asks each, and waits for the answers.
    [[nodiscard]] std::size_t busy();

    /// drain waits until no worker is busy, at most for so long, and gives how many connections are
    /// left. Stop accepting first.
    std::size_t drain(std::chrono::milliseconds longest);

    /// interrupt_all raises error::stopped for every connection, as worker::interrupt_all does.
    void interrupt_all()
    {
        broadcast([](worker& on) { on.interrupt_all(); });
    }

    /// stop ends the workers after what they have in hand, and waits for their threads. What waits
    /// on a worker then is never woken: drain or interrupt_all comes first.
    void stop() noexcept;

private:
    void run(std::size_t number, int cpu, std::promise<void>& began);

    worker_pool_spec spec_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
};

} // namespace cleat::net
