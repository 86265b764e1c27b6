#include <cleat/core/cpu_topology.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/worker_pool.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace cleat::net {
namespace {

// How often drain checks: often enough for a person who waits, and no load.
constexpr std::chrono::milliseconds drain_interval{5};

constexpr int any_cpu = -1;

// A limit that the workers alone cannot reach is ignored.
std::optional<cpu_limit> limit_of_workers(std::optional<cpu_limit> limit, std::size_t workers)
{
    return limit && limit->cpus < static_cast<double>(workers) ? limit : std::nullopt;
}

} // namespace

std::size_t worker_count(std::size_t setting)
{
    if (setting == 0) {
        result<cpu_topology> const machine = read_cpu_topology();
        setting = machine ? machine->workers_auto() : std::thread::hardware_concurrency();
    }
    return std::clamp<std::size_t>(setting, 1, limits::workers_max);
}

worker_pool::worker_pool(worker_pool_spec spec) : spec_{std::move(spec)}
{
    std::size_t const count = worker_count(spec_.workers);
    std::vector<int> cpus(count, any_cpu);
    if (spec_.pin)
        if (result<cpu_topology> const machine = read_cpu_topology(); machine)
            cpus = order_for_workers(*machine, count);
    limit_ = limit_of_workers(read_cpu_limit(), count);

    workers_.resize(count);
    std::vector<std::future<void>> began;
    try {
        for (std::size_t i = 0; i < count; ++i) {
            std::promise<void> promise;
            began.push_back(promise.get_future());
            threads_.emplace_back(
                [this, i, cpu = cpus[i], p = std::move(promise)]() mutable { run(i, cpu, p); });
        }
        for (std::future<void>& each : began)
            each.get();
    } catch (...) {
        // Every worker must exist before stop can end it.
        for (std::future<void> const& each : began)
            if (each.valid())
                each.wait();
        stop();
        throw;
    }
}

void worker_pool::run(std::size_t number, int cpu, std::promise<void>& began)
{
    try {
        // Without the CPU (it may be forbidden by now) the worker is slower, but serves.
        if (cpu != any_cpu)
            static_cast<void>(pin_this_thread(cpu));
        workers_[number] = std::make_unique<worker>(number);
        workers_[number]->limit_cpu(limit_);
        if (spec_.begin)
            spec_.begin(*workers_[number]);
    } catch (...) {
        began.set_exception(std::current_exception());
        return;
    }
    began.set_value();
    workers_[number]->run();
    if (spec_.end)
        spec_.end(*workers_[number]);
}

void worker_pool::follow_cpu_limit()
{
    std::optional<cpu_limit> const now = limit_of_workers(read_cpu_limit(), size());
    if (now == limit_)
        return;
    broadcast([now](worker& each) { each.limit_cpu(now); });
    limit_ = now; // Else without memory no later call would do it.
}

std::size_t worker_pool::busy()
{
    std::vector<std::future<std::size_t>> answers;
    for (std::unique_ptr<worker> const& each : workers_) {
        if (threads_.empty())
            break; // Stopped: no worker would answer.
        std::promise<std::size_t> answer;
        answers.push_back(answer.get_future());
        each->get_executor()
            .require(boost::asio::execution::blocking.never)
            .execute([target = each.get(), a = std::move(answer)]() mutable {
                a.set_value(target->interruptible());
            });
    }
    std::size_t sum = 0;
    for (std::future<std::size_t>& each : answers)
        sum += each.get();
    return sum;
}

std::size_t worker_pool::drain(std::chrono::milliseconds timeout)
{
    auto const until = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        std::size_t const left = busy();
        if (left == 0 || std::chrono::steady_clock::now() >= until)
            return left;
        std::this_thread::sleep_for(drain_interval);
    }
}

void worker_pool::stop() noexcept
{
    for (std::unique_ptr<worker> const& each : workers_)
        if (each)
            each->stop();
    for (std::thread& each : threads_)
        each.join();
    threads_.clear();
}

} // namespace cleat::net
