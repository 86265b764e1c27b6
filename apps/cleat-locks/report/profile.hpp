// profile: locks, call stacks and threads of a trace, with names.
//
// Three times are separate and never added up: time that threads were blocked on locks, CPU time
// inside lock functions, and CPU time on reference counts.

#pragma once

#include "report/holds.hpp"
#include "report/trace.hpp"
#include "report/unrecorded.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::locks {

/// weights are the counts of a stack, or of a part of the tree.
struct weights
{
    std::uint64_t blocked_ns = 0; ///< Waits for mutexes, read-write locks and spin locks.
    std::uint64_t waiting_ns = 0; ///< For conditions, semaphores and once: mostly for work.
    std::uint64_t acquisitions = 0;
    std::uint64_t contended = 0;
    std::uint64_t cpu = 0;            ///< Samples of CPU time, all but the recorder's own.
    std::uint64_t cpu_locks = 0;      ///< Of these, inside lock functions.
    std::uint64_t cpu_references = 0; ///< Of these, on reference counts.

    weights& operator+=(weights const& other) noexcept;
};

/// stack is a call stack with names.
struct stack
{
    std::vector<std::uint32_t> functions; ///< Indices into profile::functions, the innermost first.
    weights counts;
};

/// failed_tries are failed tries, and waits that timed out, in one function.
struct failed_tries
{
    std::string function;
    std::uint64_t count = 0;
};

/// lock is a lock, or a group of locks that were made at one place, each touched by one thread.
struct lock
{
    std::string name; ///< The variable's, or the place where it was made.
    trace_kind kind = trace_mutex;
    bool group = false;
    int pid = 0;
    std::uint64_t instances = 0;
    unsigned threads = 0;     ///< Threads that touched it; of a group: the most for one lock.
    std::uint64_t shared = 0; ///< Acquisitions when more than one thread had touched it.
    /// The part of taken() by the thread that took it most; 0: unknown, since threads that ran one
    /// after the other have one block of the trace.
    std::uint64_t busiest = 0;
    std::uint64_t contended = 0;
    std::uint64_t failed = 0; ///< Failed tries, and waits that timed out.
    std::uint64_t wait_ns = 0;
    std::uint64_t wait_max_ns = 0;
    std::uint64_t no_core_ns = 0; ///< Threads of the profile had no core for so long in all.
    lock_use exclusive;
    lock_use readers;                    ///< Shared acquisitions of a read-write lock.
    std::vector<std::string> taken_by;   ///< The functions that take it most, the innermost first.
    std::vector<failed_tries> failed_in; ///< The functions where most failed, in that order.

    [[nodiscard]] std::uint64_t acquisitions() const noexcept
    {
        return exclusive.acquisitions + readers.acquisitions;
    }
    /// taken counts acquisitions, and those as a wait for a condition ended.
    [[nodiscard]] std::uint64_t taken() const noexcept
    {
        return acquisitions() + exclusive.retaken + readers.retaken;
    }
    /// one_threads_own: less than 1 % of the acquisitions are other threads' (such as those of the
    /// thread that made the lock), and the waits are less than 1 % of the time that it was held. It
    /// blocks no thread.
    [[nodiscard]] bool one_threads_own() const noexcept
    {
        return threads <= 1 || ((taken() - busiest) * 100 < taken() &&
                                100 * static_cast<double>(wait_ns) <= exclusive.held_ns());
    }
    /// holds_contradict_waits: a wait took much longer than all holds together would have, by their
    /// mean, and than threads had no core to run on. So the long holds were not timed, and the mean
    /// is wrong.
    [[nodiscard]] bool holds_contradict_waits() const noexcept;
    /// is_lock: a thread waits for it until another releases it, not until there is work.
    [[nodiscard]] bool is_lock() const noexcept { return kind <= trace_spin; }
};

/// thread_share is a thread's part, or that of several that ran one after the other.
struct thread_share
{
    std::string name; ///< The name of the last one; so is the number.
    int pid = 0;
    int tid = 0;
    unsigned threads = 1;
    std::uint64_t lived_ns = 0;
    std::uint64_t cpu_ns = 0;
    weights counts;
    bool lived_at_least = false; ///< It lived longer, to an unknown end.
};

/// unended_wait is a wait that had not ended as the recording did, as in a deadlock. Its time is in
/// the lock's, the thread's and the totals; it is no acquisition.
struct unended_wait
{
    std::string lock; ///< Its name.
    trace_kind kind = trace_mutex;
    std::string waits_in; ///< The function that called the lock function.
    std::string thread;
    int pid = 0;
    int tid = 0;
    std::uint64_t ns = 0; ///< So far.

    [[nodiscard]] bool is_for_a_lock() const noexcept { return kind <= trace_spin; }
};

/// process_note is a process, and the gaps in its recording.
struct process_note
{
    std::string command;
    int pid = 0;
    bool ended = false;
    std::uint64_t lived_ns = 0;
    std::size_t threads = 0;
    std::uint64_t lost = 0;      ///< Acquisitions, stacks and threads without room in the trace.
    std::uint64_t nested = 0;    ///< Acquisitions by signal handlers that interrupted the recorder.
    std::size_t blocks = 0;      ///< Of threads, each of one or of several after each other.
    std::size_t blocks_cut = 0;  ///< Blocks that are missing since the file was cut.
    bool runs = false;           ///< As the trace was read; lived_ns is its time until then.
    bool lived_at_least = false; ///< It lived longer, to an unknown end.
    std::uint64_t acquisitions = 0; ///< With failed tries.
    bool window = false;            ///< A part of its recording, between two marks.
    bool no_map = false;            ///< Its memory map is missing, so its functions have no names.
    std::optional<int> wait_status{}; ///< Of waitpid(), where it did not record its end itself.

    /// took_no_lock says that it has nothing to show. It has ended, and its record has no gaps.
    [[nodiscard]] bool took_no_lock() const noexcept
    {
        return acquisitions == 0 && threads > 0 && blocks_cut == 0 && lost == 0 && nested == 0 &&
               !runs;
    }
};

/// thread_name names a thread of a process.
struct thread_name
{
    std::string name;
    int tid = 0;
};

/// taken_at is a place where a thread took a lock, or asked for one.
struct taken_at
{
    thread_name thread;
    std::string function; ///< Empty: unknown.
    std::vector<std::uint32_t>
        stack; ///< Indices into functions, the innermost first; may be empty.
};

/// holder_wait is the time that one thread waited at one place while another one held the lock.
struct holder_wait
{
    std::string lock;
    trace_kind kind = trace_mutex;
    int pid = 0;
    taken_at waiter;
    taken_at holder;
    std::uint64_t waits = 0;
    std::uint64_t ns = 0;
    std::uint64_t max_ns = 0;
};

/// cycle_part is a thread of a deadlock: it waits for a lock that the next one holds.
struct cycle_part
{
    std::string lock;
    std::uint64_t ns = 0; ///< Of its wait so far.
    taken_at waiter;
    taken_at holder;
};

struct deadlock
{
    int pid = 0;
    std::vector<cycle_part> parts;
};

/// order_side is one order of two locks: a thread asked for the second while it had the first.
struct order_side
{
    taken_at had;
    taken_at asked;
};

/// inversion are two locks that different threads took in both orders.
struct inversion
{
    int pid = 0;
    std::string first;
    std::string second;
    order_side first_then_second;
    order_side second_then_first;
};

/// off_cpu_place is a place where a thread was off the CPU and in no recorded wait, by samples.
struct off_cpu_place
{
    std::string thread;
    int pid = 0;
    int tid = 0;
    std::string call;     ///< As call_name.
    std::string object;   ///< Of a futex: the variable, or the address.
    std::string function; ///< With the code that called the kernel.
    std::uint64_t ns = 0;
    std::uint64_t samples = 0;
};

/// off_cpu_parts divides the time of all threads off the CPU.
struct off_cpu_parts
{
    std::uint64_t ns = 0;         ///< thread_ns without cpu_ns.
    std::uint64_t blocked_ns = 0; ///< For locks.
    std::uint64_t condition_ns = 0;
    std::uint64_t semaphore_ns = 0;
    std::uint64_t once_ns = 0;
    std::uint64_t futex_ns = 0;   ///< The program's own, by syscall().
    std::uint64_t no_core_ns = 0; ///< By the kernel's account, as far as it was sampled.
    std::uint64_t sampled_ns = 0; ///< In no recorded wait, by samples.

    /// unexplained_ns is what no lock of the table explains.
    [[nodiscard]] std::uint64_t unexplained_ns() const noexcept
    {
        return ns - std::min(ns, blocked_ns);
    }
    /// outside_ns is in no recorded wait.
    [[nodiscard]] std::uint64_t outside_ns() const noexcept
    {
        return ns - std::min(ns, blocked_ns + condition_ns + semaphore_ns + once_ns + futex_ns);
    }
    /// no_core_outside_ns is the part of no_core_ns that is outside the recorded and the sampled
    /// waits, at most: a thread that was woken up and waits for a core is still in its recorded
    /// wait.
    [[nodiscard]] std::uint64_t no_core_outside_ns() const noexcept
    {
        return std::min(no_core_ns, outside_ns() - std::min(outside_ns(), sampled_ns));
    }
    /// unrecorded_ns is in no recorded wait at all, and with a core to run on.
    [[nodiscard]] std::uint64_t unrecorded_ns() const noexcept
    {
        return outside_ns() - no_core_outside_ns();
    }
};

struct profile
{
    std::vector<process_note> processes;
    std::vector<std::string> functions;
    std::vector<stack> stacks;
    std::vector<lock> locks; ///< By blocked time, then by shared acquisitions, then by all.
    std::vector<thread_share> threads;
    std::vector<unended_wait> unended_waits; ///< The longest first.
    std::vector<holder_wait> waits_for;      ///< The longest first.
    std::uint64_t waits_for_lost = 0;        ///< Waits that found no room there.
    std::vector<deadlock> deadlocks;
    std::vector<inversion> inversions;
    std::vector<off_cpu_place> off_cpu; ///< The longest first.
    std::uint64_t off_cpu_samples = 0;  ///< Of processes.
    std::uint64_t no_core_ns = 0;
    std::vector<std::string> not_sampled;       ///< Why processes were not sampled.
    std::vector<unrecorded_process> unrecorded; ///< Seen running without the recorder.
    weights total;
    std::uint64_t thread_ns = 0; ///< The threads' lifetimes, added up.
    /// Not all lifetimes are known: thread_ns is a lower bound, shares of it are upper ones.
    bool thread_ns_at_least = false;
    std::uint64_t cpu_ns = 0; ///< The threads' CPU time by the kernel's count.
    std::uint64_t samples_own = 0;
    unsigned cpu_hz = 0;
    /// Files with the processes' code that have changed since: names of functions in them may be
    /// wrong.
    std::vector<std::string> changed_files;
    bool interruptions = true; ///< It is known which holds were interrupted, of all processes.
    double line_ns = 0; ///< Of an acquisition whose cache line comes from another core; 0: unknown.

    [[nodiscard]] off_cpu_parts off_cpu_time() const noexcept;
    // The three shares of this profile, in percent.
    [[nodiscard]] double blocked_percent(weights const& counts) const noexcept;
    [[nodiscard]] double lock_cpu_percent(weights const& counts) const noexcept;
    [[nodiscard]] double reference_cpu_percent(weights const& counts) const noexcept;
};

/// make_profile makes a profile of traces; with `pid`, of that process alone. Throws
/// std::runtime_error.
[[nodiscard]] profile make_profile(
    std::vector<traced_process> const& traced, std::optional<int> pid = std::nullopt);

/// contradiction_text says why no mean hold of a lock is believed; empty: there is no reason.
[[nodiscard]] std::string contradiction_text(lock const& l);

/// kind_name names a kind of lock.
[[nodiscard]] std::string_view kind_name(trace_kind kind) noexcept;

} // namespace cleat::locks
