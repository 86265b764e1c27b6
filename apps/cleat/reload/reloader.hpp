// reloader: builds a new configuration on a thread of its own, while the workers serve.

#pragma once

#include "reload/candidate.hpp"

#include <cleat/core/unique_fd.hpp>

#include <thread>

namespace cleat::app {

/// reloader builds one candidate at a time. The main thread uses it.
class reloader
{
public:
    /// workers outlive it. Throws std::system_error.
    explicit reloader(worker_group& workers);
    reloader(reloader&&) = delete;

    /// Waits for the candidate that is being built.
    ~reloader();

    /// begin starts to build. Not while is_busy. Throws std::system_error.
    void begin(reload_request request);

    /// is_busy: take has not been called since begin.
    [[nodiscard]] bool is_busy() const noexcept { return thread_.joinable(); }

    /// done is a descriptor that is readable when the candidate is built.
    [[nodiscard]] int done() const noexcept { return done_.get(); }

    /// take is the candidate; it waits for it.
    [[nodiscard]] candidate take();

private:
    void run() noexcept;

    worker_group& workers_;
    unique_fd done_; // An eventfd.
    reload_request request_;
    candidate made_;
    std::thread thread_;
};

} // namespace cleat::app
