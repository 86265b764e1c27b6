// run: a program under the recorder.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::locks {

/// run_request is what to run, and what to record of it.
struct run_request
{
    std::vector<std::string> command;
    std::filesystem::path trace; ///< The folder to write; empty: PROGRAM.locks.
    unsigned cpu_hz = 199;       ///< Samples for each second of a thread's CPU; 0: none.
    bool every_hold = false;     ///< Time every hold, not a sample of them.
    int signal = 0;              ///< Of the sampler; 0: SIGRTMAX - 3.
};

/// run_traced runs the program to its end and gives its exit code, 128 + N if signal N ended it.
/// Interrupts of the terminal are the program's to answer; signals that end or tell something and
/// were sent to this process alone are passed on. Throws std::runtime_error when it cannot begin,
/// or when nothing was recorded.
[[nodiscard]] int run_traced(run_request const& request);

} // namespace cleat::locks
