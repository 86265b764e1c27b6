// memory: keeps the content of this process's memory, such as private keys, off disks and away from
// other processes.

#pragma once

#include <cleat/core/error.hpp>

namespace cleat::app {

/// hide_memory: no core dump is written, not even by a program that the kernel starts for it, and
/// no process without root's rights can trace this one or read its memory. The kernel forgets the
/// second half when the process becomes another user: call it again.
void hide_memory() noexcept;

/// raise_locking_limit lets this process lock as much memory as it likes, as far as it has the
/// right to: call it while it is root.
void raise_locking_limit() noexcept;

/// lock_memory keeps all memory out of swap: what the process has, as soon as it is used, and what
/// it will have. The error: RLIMIT_MEMLOCK, which would end it later, or the kernel.
[[nodiscard]] error_code lock_memory() noexcept;

} // namespace cleat::app
