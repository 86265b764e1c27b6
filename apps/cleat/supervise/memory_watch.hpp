// memory_watch: reads how much memory is in use, and keeps the workers below max-memory.

#pragma once

#include "log/log.hpp"
#include "memory/memory_counts.hpp"
#include "memory/memory_gauge.hpp"
#include "memory/memory_level.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

namespace cleat::app {

/// watched_memory is what a memory_watch asks and does. Its thread calls all of them.
struct watched_memory
{
    /// Fills in the connections.
    std::function<void(memory_reading&)> count;
    /// Gives each worker its share. Called where a share is limited, and when it has changed.
    std::function<void(memory_share)> give;
    /// Gives free memory back to the kernel, and does not wait.
    std::function<void()> trim;
    /// Called when the level has changed.
    std::function<void()> wake;
    std::uint64_t workers = 1;
    /// Finds the gauge: at each change of the limit.
    std::function<std::function<std::uint64_t()>()> gauge = memory_gauge;
};

/// memory_watch has a thread, which sleeps where there is no limit. It reads the gauge each
/// `interval`, and each `interval_near` where more than half of the limit is in use: what the
/// workers take in that time fits above the mark of memory_level::full.
///
/// The gauge is the control group's where it has a limit, and else the memory of this process: see
/// find_memory_group. The thread has the priority of the one that made it, because a gauge that
/// waits for the workers is late when they are busy.
class memory_watch
{
public:
    static constexpr std::chrono::milliseconds interval{50};
    static constexpr std::chrono::milliseconds interval_near{20};
    /// Between two trims while a level lasts: each takes a worker's heap for some milliseconds.
    static constexpr std::chrono::milliseconds trim_interval{1000};
    /// The same while memory is full. Connections that have stalled end before each: more would end
    /// than have to if others did before their memory has gone back.
    static constexpr std::chrono::milliseconds trim_interval_full{250};

    explicit memory_watch(watched_memory subject)
        : subject_{std::move(subject)}, thread_{[this] { run(); }}
    {
    }
    memory_watch(memory_watch&&) = delete;
    ~memory_watch();

    /// follow takes another limit; 0: there is none. The control group is looked for anew.
    void follow(std::uint64_t limit) noexcept;

    /// look logs a level that has changed since the last look, and readings that have failed: the
    /// first at once, and those of each limits::failure_interval after it in one line. One thread
    /// calls it.
    void look(logger const& log);

    /// counts is never null.
    [[nodiscard]] std::shared_ptr<memory_counts const> counts() const noexcept { return counts_; }

private:
    using clock = std::chrono::steady_clock;

    void run() noexcept;
    [[nodiscard]] bool wait_for_change(memory_levels const& levels) noexcept;
    void read(memory_levels& levels) noexcept;
    [[nodiscard]] bool is_time(memory_level level) noexcept;
    void publish(memory_share share) noexcept;
    void count_failure(int reason) noexcept;
    void look_at_failures(logger const& log);

    watched_memory subject_;
    std::shared_ptr<memory_counts> counts_ = std::make_shared<memory_counts>();
    std::atomic<std::uint64_t> wanted_{0};
    std::atomic<bool> is_ending_{false};
    std::counting_semaphore<> changed_{0};

    // The thread's.
    std::function<std::uint64_t()> gauge_;
    memory_share given_;
    bool is_changed_ = false; // The last reading has changed it.
    clock::time_point next_trim_{};
    bool is_near_ = false;
    std::uint16_t evictions_ = 0;
    clock::time_point next_failure_wake_{};
    bool is_trim_due_ = false; // At the next reading: the workers have ended what had to end.

    // Those of look.
    memory_level logged_ = memory_level::normal;
    std::uint64_t logged_changes_ = 0;
    std::uint64_t logged_failures_ = 0;
    clock::time_point next_failure_line_{};

    std::thread thread_;
};

} // namespace cleat::app
