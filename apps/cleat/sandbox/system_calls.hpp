// system_calls: takes every system call from cleat that it does not make once it serves.

#pragma once

namespace cleat::app {

/// limit_system_calls is for all threads, and for good. The process must have PR_SET_NO_NEW_PRIVS.
/// A program cannot be executed nor a process made; other calls do not exist (ENOSYS), so that the
/// C library takes an older one instead. Returns an errno, or 0.
[[nodiscard]] int limit_system_calls() noexcept;

/// offers_seccomp: the kernel takes such a filter from this process.
[[nodiscard]] bool offers_seccomp() noexcept;

} // namespace cleat::app
