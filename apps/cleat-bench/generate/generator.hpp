// generator: begins one worker's transactions when they are due. A transaction's life is in
// transaction.cpp.

#pragma once

#include "generate/alarm.hpp"
#include "generate/load_spec.hpp"
#include "generate/progress.hpp"
#include "generate/tally.hpp"
#include "generate/worker_load.hpp"
#include "system/thread_times.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cleat::bench {

/// generator lives on its worker's thread. Transactions refer to it, so it outlives the worker's
/// run.
class generator final : public worker_load, net::task_node
{
public:
    /// Throws tls::spec_error for what the TLS library cannot do, and std::system_error where there
    /// are no timers for all kept connections.
    generator(net::worker& worker, load_spec const& spec, share part);
    ~generator();

    /// begin starts the schedule at that moment. `on_done` is called once, when the last
    /// transaction has ended.
    void begin(moment start, std::function<void()> on_done);

    /// finish begins no more transactions. `on_done` is called when those in flight have ended.
    void finish();

    /// read_progress is called on the worker's thread.
    [[nodiscard]] progress read_progress() const;

    /// take_counts gives the counts. Called on the worker's thread, after its run.
    [[nodiscard]] tally take_counts();

    /// times are the thread's from the end of the warm-up to the last moment at which transactions
    /// began; zero where the run ended before the warm-up did. Call take_counts first.
    [[nodiscard]] thread_times const& times() const noexcept { return times_; }

private:
    net::detached run_open_loop();
    net::detached run_closed_loop();
    net::detached run_kept_connections();
    net::detached measure_lag();
    void after_connection() noexcept override;
    void replace();
    [[nodiscard]] bool may_begin() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds counted_cpu() const noexcept;
    [[nodiscard]] unsigned take_requests(moment intended) noexcept;
    void begin_one(moment intended);
    void take_times() noexcept;
    void check_done();
    static void on_dequeued(net::task_node& node, bool run) noexcept;

    alarm alarm_;
    alarm ticks_;
    std::vector<alarm> kept_alarms_; // One for each kept connection.
    std::function<void()> on_done_;
    moment begun_{};
    unsigned to_replace_ = 0;
    bool queued_ = false;
    std::chrono::nanoseconds cpu_before_{}; // At the begin of the run: progress has the warm-up's.
    std::optional<thread_times> first_;     // At the end of the warm-up.
    bool has_times_ = false;
    thread_times times_;
};

} // namespace cleat::bench
