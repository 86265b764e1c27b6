// attach: samples of a process that runs already, instead of a recording of its locks.

#pragma once

#include <cstddef>
#include <string>

namespace cleat::locks {

/// attach_request: `cleat-locks attach PID`.
struct attach_request
{
    int pid = 0;
    double seconds = 10;
    std::size_t most = 30; ///< Rows of the table.
};

/// attach_text samples in which system calls the process's threads wait, and says why its locks
/// cannot be recorded, or where they are recorded already. Throws std::runtime_error where there is
/// no such process, or the kernel does not show its threads.
[[nodiscard]] std::string attach_text(attach_request const& request);

} // namespace cleat::locks
