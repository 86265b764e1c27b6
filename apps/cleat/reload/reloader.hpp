// reloader: builds a new configuration on a thread of its own, while the workers serve.

#pragma once

#include "reload/candidate.hpp"

#include <atomic>
#include <thread>

namespace cleat::app {

/// reloader builds one candidate at a time. The main thread uses it.
class reloader
{
public:
    /// workers outlive it.
    explicit reloader(worker_group& workers) noexcept : workers_{workers} {}
    reloader(reloader&&) = delete;

    /// Waits for the candidate that is being built.
    ~reloader();

    /// begin starts to build. Not while is_busy. Throws std::system_error.
    void begin(reload_request request);

    /// is_busy: take has not been called since begin.
    [[nodiscard]] bool is_busy() const noexcept { return thread_.joinable(); }

    /// is_built: take need not wait. worker_group::news is readable when that becomes true.
    [[nodiscard]] bool is_built() const noexcept { return is_built_.load(); }

    /// take is the candidate; it waits for it.
    [[nodiscard]] candidate take();

private:
    void run() noexcept;

    worker_group& workers_;
    std::atomic<bool> is_built_{false};
    reload_request request_;
    candidate made_;
    std::thread thread_;
};

} // namespace cleat::app
