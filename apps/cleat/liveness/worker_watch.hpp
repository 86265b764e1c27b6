// worker_watch: names workers whose loop does not turn: one that a debugger or the machine holds.
// systemd's watchdog asks it whether all are alive.

#pragma once

#include "log/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cleat::app {

/// hold_counts are written by the main thread, and read by any.
struct hold_counts
{
    std::atomic<std::uint64_t> holds{0}; ///< Workers that were named, since the start.
    std::atomic<std::uint64_t> held{0};  ///< Those that are held now.
};

/// watched_worker is a question to a worker. Another one is asked once it is answered.
struct watched_worker
{
    std::function<void()> ask;
    std::function<bool()> is_waiting; ///< For the answer. A worker that has ended owes none.
};

/// worker_watch asks each worker again and again, and logs one that owes its answer for
/// limits::worker_held_after. It only watches: the others serve on, and the kernel keeps the
/// connections that wait for the held one. It belongs to the main thread.
class worker_watch
{
public:
    using clock = std::chrono::steady_clock;

    explicit worker_watch(std::vector<watched_worker> workers);

    /// ask_every sets another time between two questions than limits::worker_question_interval.
    void ask_every(clock::duration interval) noexcept { interval_ = interval; }

    /// look asks, and logs what has changed, where it is time.
    void look(clock::time_point now, logger const& log);

    /// next_look is when it is time again.
    [[nodiscard]] clock::time_point next_look() const noexcept { return next_look_; }

    /// are_alive: no worker owes an answer for so long.
    [[nodiscard]] bool are_alive(clock::time_point now, clock::duration patience) const;

    /// counts is never null.
    [[nodiscard]] std::shared_ptr<hold_counts const> counts() const noexcept { return counts_; }

private:
    struct state
    {
        watched_worker worker;
        clock::time_point asked{};
        bool is_held = false;
    };

    void look(std::size_t number, clock::time_point now, logger const& log);

    std::vector<state> workers_;
    clock::duration interval_;
    clock::time_point next_look_{};
    std::shared_ptr<hold_counts> counts_ = std::make_shared<hold_counts>();
};

} // namespace cleat::app
