// profile: what a trace says, with names: locks, call stacks and threads.
//
// Three things are counted apart and never added up: time that threads were blocked on locks, CPU
// time spent inside lock functions, and CPU time spent on reference counts.

#pragma once

#include "report/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::locks {

/// weights are what a stack, or a part of the tree, stands for.
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

/// lock_use is what was done with a lock in one way.
struct lock_use
{
    std::uint64_t acquisitions = 0;
    std::uint64_t again = 0;   ///< Taken again as a wait for a condition ended: holds, too.
    std::uint64_t holds = 0;   ///< That were timed.
    std::uint64_t hold_ns = 0; ///< Of those.
    std::uint64_t hold_max_ns = 0;
    std::uint64_t interrupted = 0; ///< Of the timed holds: the kernel took the thread's core away.
    std::uint64_t interrupted_ns = 0;

    /// mean_hold_ns is that of the holds that were not interrupted, unless all were.
    [[nodiscard]] double mean_hold_ns() const noexcept;
    /// held_ns is how long the lock was held in all, by its mean.
    [[nodiscard]] double held_ns() const noexcept
    {
        return static_cast<double>(acquisitions + again) * mean_hold_ns();
    }
};

/// lock is a lock, or a group of locks that were made at one place and that one thread each
/// touched.
struct lock
{
    std::string name; ///< Of the variable, or where it was made.
    trace_kind kind = trace_mutex;
    bool group = false;
    int pid = 0;
    std::uint64_t instances = 0;
    unsigned threads = 0;     ///< That touched it; of a group the most that touched one of them.
    std::uint64_t shared = 0; ///< Acquisitions when more than one thread had touched it.
    /// Of taken(), what the thread did that has most of it; 0: it is not known which threads did
    /// what, since threads that ran one after the other have one block of the trace.
    std::uint64_t busiest = 0;
    std::uint64_t contended = 0;
    std::uint64_t failed = 0; ///< Tries, and waits that timed out.
    std::uint64_t wait_ns = 0;
    std::uint64_t wait_max_ns = 0;
    lock_use exclusive;
    lock_use readers;                  ///< Shared acquisitions of a read-write lock.
    std::vector<std::string> taken_by; ///< The functions that take it most, the innermost first.

    [[nodiscard]] std::uint64_t acquisitions() const noexcept
    {
        return exclusive.acquisitions + readers.acquisitions;
    }
    /// taken is how often a thread got it, also as a wait for a condition ended.
    [[nodiscard]] std::uint64_t taken() const noexcept
    {
        return acquisitions() + exclusive.again + readers.again;
    }
    /// one_threads_own: others took it less than once in a hundred times, as a lock that was set up
    /// by another thread than uses it, and who waited did so for less than a hundredth of the time
    /// that it was held. It keeps nobody out.
    [[nodiscard]] bool one_threads_own() const noexcept
    {
        return threads <= 1 || ((taken() - busiest) * 100 < taken() &&
                                100 * static_cast<double>(wait_ns) <= exclusive.held_ns());
    }
    /// is_lock: who waits for it waits for another thread to let go, not for work.
    [[nodiscard]] bool is_lock() const noexcept { return kind <= trace_spin; }
};

/// thread_share is what a thread did, or several that ran one after the other.
struct thread_share
{
    std::string name; ///< Of the last one, as its number is.
    int pid = 0;
    int tid = 0;
    unsigned threads = 1;
    std::uint64_t lived_ns = 0;
    std::uint64_t cpu_ns = 0;
    weights counts;
    bool lived_at_least = false; ///< It lived on, for nobody knows how long.
};

/// unended_wait is one that had not ended as the recording did: the threads of a deadlock are in
/// such. Its time is in the lock's, the thread's and the totals; it is no acquisition.
struct unended_wait
{
    std::string lock; ///< Its name.
    trace_kind kind = trace_mutex;
    std::string waits_in; ///< The function that asked for it.
    std::string thread;
    int pid = 0;
    int tid = 0;
    std::uint64_t ns = 0; ///< So far.

    [[nodiscard]] bool is_for_a_lock() const noexcept { return kind <= trace_spin; }
};

/// process_note is a process and what is missing of it.
struct process_note
{
    std::string command;
    int pid = 0;
    bool ended = false;
    std::uint64_t lived_ns = 0;
    std::size_t threads = 0;
    std::uint64_t lost = 0;      ///< Acquisitions, stacks and threads that found no room.
    std::uint64_t nested = 0;    ///< Acquisitions by signal handlers that interrupted the recorder.
    std::size_t blocks = 0;      ///< Of threads, each of one or of several after each other.
    std::size_t blocks_cut = 0;  ///< Of these, that are missing since the file ends before them.
    bool runs = false;           ///< Now, as it is read: it has lived so long so far.
    bool lived_at_least = false; ///< It lived on, for nobody knows how long.
};

struct profile
{
    std::vector<process_note> processes;
    std::vector<std::string> functions;
    std::vector<stack> stacks;
    std::vector<lock> locks; ///< By blocked time, then by shared acquisitions, then by all.
    std::vector<thread_share> threads;
    std::vector<unended_wait> unended_waits; ///< The longest first.
    weights total;
    std::uint64_t thread_ns = 0; ///< The threads' lifetimes, added up.
    bool thread_ns_at_least =
        false;                ///< They are not all known: shares of them are at most so much.
    std::uint64_t cpu_ns = 0; ///< The kernel's account of their CPU time.
    std::uint64_t samples_own = 0;
    unsigned cpu_hz = 0;
    /// Of the files with the processes' code those that are not what they were: names of functions
    /// in them may be wrong.
    std::vector<std::string> changed_files;
    bool interruptions = true; ///< Which holds were interrupted is known, of all processes.

    // The three columns, of all that is here, in percent.
    [[nodiscard]] double blocked_percent(weights const& counts) const noexcept;
    [[nodiscard]] double lock_cpu_percent(weights const& counts) const noexcept;
    [[nodiscard]] double reference_cpu_percent(weights const& counts) const noexcept;
};

/// make_profile names what was traced; with `pid`, of that process alone. Throws
/// std::runtime_error.
[[nodiscard]] profile make_profile(
    std::vector<traced_process> const& traced, std::optional<int> pid = std::nullopt);

/// is_lock_function and is_reference_count say what a function is by its name alone.
[[nodiscard]] bool is_lock_function(std::string_view name);
[[nodiscard]] bool is_reference_count(std::string_view name);

/// interrupted_text says how many of the timed holds were interrupted; empty where they are few.
[[nodiscard]] std::string interrupted_text(lock_use const& use);

/// kind_name names a kind of lock.
[[nodiscard]] std::string_view kind_name(trace_kind kind) noexcept;

} // namespace cleat::locks
