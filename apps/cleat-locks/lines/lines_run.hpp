// lines_run: a program under the recorder of cache lines.

#pragma once

#include "report/window.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cleat::locks {

/// lines_run_request is a command, and which part of its run counts.
struct lines_run_request
{
    std::vector<std::string> command;
    std::filesystem::path file; ///< Empty: PROGRAM.lines.
    window_times window{};      ///< Without: all of it.
    bool waits = false;         ///< Nothing counts until `cleat-locks lines-mark FILE begin`.
};

/// run_with_lines runs the program to its end and gives its exit code, 128 + N if signal N ended
/// it. Signals are passed on as start_program does. Throws std::runtime_error when it cannot begin,
/// or when nothing was recorded.
[[nodiscard]] int run_with_lines(lines_run_request const& request);

/// lines_flags are the options of a compiler that builds a program for it, one line for compiling
/// and one for linking. Throws std::runtime_error where the recorder is not installed.
[[nodiscard]] std::string lines_flags();

} // namespace cleat::locks
