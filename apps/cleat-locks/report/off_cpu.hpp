// off_cpu: waits of threads that the recorder cannot see: samples of /proc, taken by `run`.
//
// The recorder times waits that go through functions that it wraps. Others happen inside libc, in
// programs that call the kernel themselves, or for files and sockets. For each thread the kernel
// says in which system call it is, with the first argument and the address of the code.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cleat::locks {

/// off_cpu_wait is the time of one thread at one place, by samples: each stands for the time since
/// the one before.
struct off_cpu_wait
{
    std::int32_t tid = 0;
    std::string thread;        ///< Its name.
    std::int64_t call = 0;     ///< The system call; -1: another place in the kernel (a page fault).
    std::uint64_t address = 0; ///< Of a futex; otherwise 0.
    std::uint64_t code = 0;    ///< Where the thread goes on.
    std::uint64_t ns = 0;
    std::uint64_t samples = 0;

    bool operator==(off_cpu_wait const&) const = default;
};

/// off_cpu_record is that of one process.
struct off_cpu_record
{
    std::uint64_t began_ns = 0;   ///< By the clock of the trace; the samples come after it.
    std::uint64_t samples = 0;    ///< Of the process; 0: it was not sampled.
    std::uint64_t sampled_ns = 0; ///< Time that its threads lived between samples, added up.
    std::uint64_t no_core_ns = 0; ///< They could run and had no core, by the kernel's account.
    std::string not_sampled;      ///< Why not, where it was tried; empty: there was no error.
    std::vector<off_cpu_wait> waits;
};

/// text_of and parse_off_cpu are the record's file beside the trace, PID.waits.
[[nodiscard]] std::string text_of(off_cpu_record const& record);
/// Throws std::runtime_error that says what is wrong with it.
[[nodiscard]] off_cpu_record parse_off_cpu(std::string_view text);

/// kernel_place is where a thread is, by a line of /proc/PID/task/TID/syscall.
struct kernel_place
{
    bool runs = false; ///< Or waits for a core.
    std::int64_t call = -1;
    std::uint64_t address = 0;
    std::uint64_t code = 0;
};
[[nodiscard]] kernel_place parse_kernel_place(std::string_view line);

/// is_futex says whether a system call waits in a futex.
[[nodiscard]] bool is_futex(std::int64_t call) noexcept;

/// old_call_name names a system call that only some architectures have; empty: it is not known.
[[nodiscard]] std::string_view old_call_name(std::int64_t call) noexcept;

/// call_name names what a thread waits in: "futex", "epoll_wait", "read", "sleep"; "system call 7".
[[nodiscard]] std::string call_name(std::int64_t call);

} // namespace cleat::locks
