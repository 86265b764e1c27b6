// confinement: takes from a process all rights but those to open files and bind ports.

#pragma once

namespace cleat::app {

/// confinement_failure is the step that the kernel refused, and its errno.
struct confinement_failure
{
    char const* step = nullptr; ///< Null: none failed.
    int error = 0;
};

/// keep_capabilities gives up all but CAP_DAC_READ_SEARCH and CAP_NET_BIND_SERVICE, as far as the
/// process has them, and CAP_DAC_OVERRIDE unless writes_logs is false. No program that it executes
/// gets any back.
[[nodiscard]] confinement_failure keep_capabilities(bool writes_logs) noexcept;

/// confine_system_calls leaves the process the calls that the opener makes. Any other call fails
/// with EPERM: among them socket, connect, execve, fork, clone, ptrace, chmod and unlink. A file
/// can be opened for reading, or as a log is where writes_logs is true. No other process can trace
/// this one or read its memory.
[[nodiscard]] confinement_failure confine_system_calls(bool writes_logs) noexcept;

} // namespace cleat::app
