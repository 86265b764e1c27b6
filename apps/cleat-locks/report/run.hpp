// run: a program under the recorder.

#pragma once

#include "report/window.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::locks {

/// run_request is a command, and options for its recording.
struct run_request
{
    std::vector<std::string> command;
    std::filesystem::path trace; ///< The folder to write; empty: PROGRAM.locks.
    unsigned cpu_hz = 199;       ///< Samples for each second of a thread's CPU; 0: none.
    bool every_hold = false;     ///< Time every hold, not a sample of them.
    int signal = 0;              ///< The sampler's signal; 0: SIGRTMAX - 3.
    window_times window{};       ///< The part of the run that counts; without: all of it.
};

/// run_traced runs the program to its end and gives its exit code, 128 + N if signal N ended it.
/// The terminal interrupts the program itself; SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1 and
/// SIGUSR2 to this process alone are passed on to it. Throws std::runtime_error when it cannot
/// begin, or when nothing was recorded.
[[nodiscard]] int run_traced(run_request const& request);

} // namespace cleat::locks
