// child: a program that is started, watched and ended here, with everything that it starts.

#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::bench {

/// launch is how a program is started.
struct launch
{
    std::vector<std::string> words; ///< The first is the program's path.
    std::vector<int> cores;         ///< It may use; empty: as we may.
    std::filesystem::path log;      ///< Takes all that it says.
    sigset_t mask{};                ///< Signals that are held back for it.
    int ration = -1;                ///< cpu_ration::joins of its ration; -1: it has none.
};

/// adopt_orphans makes this process the reaper of what its children leave behind. Once, before the
/// first child.
void adopt_orphans() noexcept;

/// child is a running program in a session of its own, so that the terminal's Ctrl-C is ours to
/// pass on. It is ended with what it has started: at the latest here, or by the kernel when we die.
class child
{
public:
    /// Throws std::runtime_error where it cannot be started.
    explicit child(launch const& how);
    child(child&& other) noexcept;
    child& operator=(child&&) = delete;
    ~child();

    [[nodiscard]] int pid() const noexcept { return pid_; }

    /// ended is how it ended by itself, in words: "ended with code 1"; nothing while it runs.
    [[nodiscard]] std::optional<std::string> ended();

    /// wait for its end up to a deadline; true where it has ended.
    [[nodiscard]] bool wait(std::chrono::milliseconds patience);

    /// stop asks it to end, waits, and kills what is left of its process group.
    void stop() noexcept;

    /// said is what it has said so far.
    [[nodiscard]] std::string said() const;

    /// cpu is the time on a core of it and of all that it has started and that still runs, with
    /// that of threads that have ended: a server with a thread for each connection has most of it
    /// there.
    [[nodiscard]] std::chrono::nanoseconds cpu() const;

private:
    [[nodiscard]] bool over() noexcept;

    pid_t pid_ = -1;
    bool over_ = false;
    std::filesystem::path log_;
};

/// run_to_end runs a program and gives what it said, or throws std::runtime_error with it where it
/// failed or took longer than ten seconds.
[[nodiscard]] std::string run_to_end(launch const& how);

} // namespace cleat::bench
