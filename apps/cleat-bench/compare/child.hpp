// child: a program that is started, watched and ended, with everything that it starts.

#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cleat::bench {

/// launch is how a program is started.
struct launch
{
    std::vector<std::string> command;     ///< The first is the program's path.
    std::vector<int> cores;               ///< It may use; empty: those of this process.
    std::filesystem::path log;            ///< Takes its standard output and error.
    sigset_t mask{};                      ///< Its signal mask.
    int join_file = -1;                   ///< cpu_quota::join_file; -1: no quota.
    std::vector<std::string> variables{}; ///< NAME=VALUE, beside those of this process.
};

/// adopt_orphans makes this process the reaper of its descendants (PR_SET_CHILD_SUBREAPER). Call it
/// once, before the first child.
void adopt_orphans() noexcept;

/// child is a running program in a session of its own, so that the terminal's Ctrl-C does not reach
/// it. The destructor ends it with all that it has started; the kernel sends it SIGTERM if this
/// process dies.
class child
{
public:
    /// Throws std::runtime_error if it cannot be started.
    explicit child(launch const& launched);
    child(child&& other) noexcept;
    child& operator=(child&&) = delete;
    ~child();

    [[nodiscard]] int pid() const noexcept { return pid_; }

    /// ended is how it ended by itself: "ended with code 1"; unset while it runs.
    [[nodiscard]] std::optional<std::string> ended();

    /// wait waits for its end, for at most this time; true if it has ended.
    [[nodiscard]] bool wait(std::chrono::milliseconds patience);

    /// stop sends SIGTERM, waits, and kills what is left of its process group.
    void stop() noexcept;

    /// output is its log so far.
    [[nodiscard]] std::string output() const;

private:
    [[nodiscard]] bool has_ended() noexcept;

    pid_t pid_ = -1;
    bool has_ended_ = false;
    std::filesystem::path log_;
};

/// system_program is the path of a program of the system; `purpose` says what it is for. Throws
/// std::runtime_error that names the package, which has the program's name.
[[nodiscard]] std::string system_program(std::string_view name, std::string_view purpose);

/// run_to_end runs a program and gives its output. Throws std::runtime_error with the output if it
/// failed or took longer than a minute.
[[nodiscard]] std::string run_to_end(launch const& launched);

} // namespace cleat::bench
