// access_log: takes the access log's lines from the workers, and writes them on a thread of its
// own.

#pragma once

#include "access/line_ring.hpp"
#include "log/line_text.hpp"
#include "log/log_sink.hpp"
#include "system/wakeup.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cleat::app {

/// access_log_losses outlives its access_log: lines that are lost at its end are counted here.
struct access_log_losses
{
    std::atomic<std::uint64_t> lost{0};     ///< All of its lines that were lost, once it has ended.
    std::atomic<std::uint64_t> reported{0}; ///< Of those, how many the log reports. Main thread.
    std::atomic<int> obstacle{0};           ///< errno of the last attempt to write; 0: none.
    std::atomic<bool> ended{false};         ///< Set last.
};

/// access_log has a ring of lines for each worker, and one thread that empties them into a sink. A
/// worker never waits: while the disk is full, or a reader does not read, lines stay in the ring,
/// and a line that finds no room there is lost and counted.
class access_log
{
public:
    /// Starts the thread, with a low priority and all signals as the caller has them. `path` is the
    /// file's name, to notice its rotation; empty: the sink is no file. Throws std::bad_alloc,
    /// std::system_error.
    access_log(std::unique_ptr<log_sink> sink, std::string path, std::size_t workers);
    access_log(access_log&&) = delete;

    ~access_log();

    /// end writes the lines that are left, for limits::access_log_end_time at most, and counts the
    /// rest as lost. No worker may write a line any more. A second call does nothing.
    void end() noexcept;

    /// write hands over a worker's line, which ends with its only newline. That worker's thread.
    void write(std::size_t worker, std::string_view line) noexcept;

    /// sink is where the lines go: it decides how their heads are written.
    [[nodiscard]] log_sink const& sink() const noexcept { return *sink_; }

    /// reopen opens the file again by its name. The next lines go there. Any thread. Throws
    /// std::bad_alloc.
    [[nodiscard]] log_sink::reopening reopen();

    /// lines_lost is how many lines found no room in a ring, or were left in one at the end. Any
    /// thread.
    [[nodiscard]] std::uint64_t lines_lost() const noexcept;

    /// losses outlive this object. Any thread.
    [[nodiscard]] std::shared_ptr<access_log_losses> const& losses() const noexcept
    {
        return losses_;
    }

    /// obstacle is why lines cannot be written now: the last attempt's error, or none. Any thread.
    [[nodiscard]] error_code obstacle() const noexcept;

private:
    using clock = std::chrono::steady_clock;

    void run() noexcept;
    bool write_all() noexcept;
    bool write_some(line_ring& ring) noexcept;
    void sleep() noexcept;
    void pause(std::chrono::milliseconds time) noexcept;
    void take_reopened() noexcept;
    void use(unique_fd const& file) noexcept;
    void look_for_rotation() noexcept;
    [[nodiscard]] bool has_lost_name() const noexcept;
    [[nodiscard]] std::uint64_t drop_all() noexcept;
    [[nodiscard]] bool all_empty() const noexcept;

    std::unique_ptr<log_sink> sink_;
    std::string path_;
    std::vector<std::unique_ptr<line_ring>> rings_; // By worker.
    std::size_t first_ = 0;                         // The ring whose turn is next.
    std::size_t written_ = 0; // Bytes of its first line that are in the present file.
    std::unique_ptr<char[]> block_;
    clock::time_point next_look_{};
    bool has_name_ = true; // At the last look, or opened again then.
    app::wakeup wakeup_;
    std::shared_ptr<access_log_losses> losses_ = std::make_shared<access_log_losses>();
    std::atomic<std::uint64_t> left_{0}; // Lines that the end has found in the rings.
    std::atomic<int> reopened_{-1}; // A descriptor of reopen, on its way to the thread; -1: none.
    std::atomic<bool> ending_{false};
    alignas(64) std::atomic<bool> asleep_{false}; // Workers read it, and the first one wakes us.
    std::thread thread_;
};

/// access_stream is how a worker writes to the access log of a configuration: cheap to copy; one
/// thread each.
class access_stream
{
public:
    /// access_stream that writes nothing.
    access_stream() noexcept = default;
    access_stream(access_log& log, line_form form) noexcept : log_{&log}, form_{form} {}

    /// for_worker is the same stream for a worker.
    [[nodiscard]] access_stream for_worker(std::size_t number) const noexcept
    {
        access_stream copy = *this;
        copy.worker_ = number;
        return copy;
    }

    [[nodiscard]] bool is_on() const noexcept { return log_ != nullptr; }
    [[nodiscard]] line_form form() const noexcept { return form_; }
    [[nodiscard]] log_sink const& sink() const noexcept { return log_->sink(); }
    void write(std::string_view line) const noexcept { log_->write(worker_, line); }

private:
    access_log* log_ = nullptr;
    line_form form_ = line_form::logfmt;
    std::size_t worker_ = 0;
};

} // namespace cleat::app
