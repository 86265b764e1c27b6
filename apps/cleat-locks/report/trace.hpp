// trace: the recorder's files as values. See preload/trace_format.h.

#pragma once

#include "preload/trace_format.h"
#include "report/off_cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cleat::locks {

constexpr std::size_t whole_pages(std::size_t size) noexcept
{
    constexpr std::size_t page = 4096;
    return (size + page - 1) / page * page;
}

/// Disk space of a trace: of the tables, and of each thread that runs at the same time.
inline constexpr std::size_t trace_tables_bytes = whole_pages(
    sizeof(trace_header) + sizeof(trace_slot[trace_slots_max]) +
    sizeof(trace_lock[trace_locks_max]));
inline constexpr std::size_t trace_block_bytes = whole_pages(sizeof(trace_thread));

/// traced_stack is a call stack as it was recorded: addresses, the innermost first.
struct traced_stack
{
    trace_stack counts{};
    std::vector<std::uint64_t> frames;
    std::size_t word = 0; ///< Its index in trace_thread::words.
};

/// traced_wait is a wait that had not ended as its process did, or as the trace was read. Its time
/// is part of its site's and of its stack's, and it is no acquisition.
struct traced_wait
{
    std::uint32_t lock = 0;          ///< Index.
    std::uint64_t return_to = 0;     ///< Where its caller would have gone on.
    std::uint64_t ns = 0;            ///< At least, where the process's end is not known.
    std::int32_t owner = 0;          ///< The thread that had the lock as it began; 0: unknown.
    std::vector<std::int32_t> cycle; ///< The threads of the deadlock that it closed; this is last.
};

/// traced_thread is a thread, or several that ran one after the other.
struct traced_thread
{
    std::uint32_t number = 0; ///< Of its block.
    std::uint32_t threads = 0;
    std::int32_t tid = 0; ///< Of the last one, as the name is.
    std::string name;
    std::uint64_t lived_ns = 0;  ///< Added up; a thread that did not end lived as its process did.
    bool lived_at_least = false; ///< It did not end, and the end of its process is not known.
    std::uint64_t cpu_ns = 0;
    std::uint64_t samples = 0;
    std::uint64_t samples_own = 0;
    std::uint64_t sites_lost = 0;
    std::uint64_t stacks_lost = 0;
    std::uint64_t nested = 0;
    std::optional<traced_wait> waits;
    std::vector<trace_site> sites;
    std::vector<std::uint32_t> site_numbers; ///< Of each site in its block; they ascend.
    std::vector<trace_wait_for> waits_for;
    std::uint64_t waits_for_lost = 0;
    std::vector<trace_order> orders;
    std::vector<traced_stack> stacks;

    /// site finds the site of a number in the block; null: there is none.
    [[nodiscard]] trace_site const* site(std::uint32_t site_number) const;
    [[nodiscard]] trace_site* site(std::uint32_t site_number);
};

/// traced_process is one file.
struct traced_process
{
    std::filesystem::path file;
    std::string program;
    std::vector<std::string> arguments;
    int pid = 0;
    bool ended = false; ///< By itself; otherwise it was killed, or is running.
    unsigned cpu_hz = 0;
    std::uint64_t clock_ns = 0; ///< The time of reading the clock, which is part of a timed hold.
    std::uint64_t began_ns = 0;
    std::uint64_t ended_ns = 0;          ///< Its end; unknown: its last record; while it runs: now.
    std::uint64_t ended_realtime_ns = 0; ///< The same by CLOCK_REALTIME, which dates files.
    bool runs = false;                   ///< As the trace was read.
    bool window = false;                 ///< A part of its recording: see window.hpp.
    bool end_known = true;               ///< It runs, or ended_ns is its end.
    std::optional<int> wait_status;      ///< Of waitpid(), where it did not record its end itself.
    std::uint32_t thread_count = 0;      ///< All threads so far.
    std::uint32_t blocks = 0;            ///< Of threads: one each, or for several after each other.
    std::size_t blocks_cut = 0;          ///< Blocks after the end of a file that was cut.
    std::uint64_t threads_lost = 0;
    std::uint64_t slots_lost = 0;
    bool interruptions = false; ///< It is known which holds were interrupted.
    double line_ns = 0; ///< Of an acquisition whose cache line comes from another core; 0: unknown.
    std::vector<trace_lock> locks;
    std::vector<traced_thread> threads;
    off_cpu_record off_cpu;
    std::string maps; ///< The text of /proc/PID/maps.

    /// thread finds the thread of a block's number; null: there is none. They ascend.
    [[nodiscard]] traced_thread const* thread(std::uint32_t number) const;
};

/// read_trace reads a folder of traces, or one file, in the order in which the processes began.
/// Throws std::runtime_error that names the file and says what is wrong with it.
[[nodiscard]] std::vector<traced_process> read_trace(std::filesystem::path const& path);

/// process_end is what only the parent of a process can know, because it waits for the process.
struct process_end
{
    std::string name;          ///< The kernel's name of the process at its end.
    std::uint64_t gone_ns = 0; ///< When it ended.
    int wait_status = 0;       ///< Of waitpid().
};

/// note_end writes a process's end into its last trace in a folder, if the process did not do so
/// itself. Without such a trace, or where that is of another
/// program, it does nothing.
void note_end(std::filesystem::path const& folder, int pid, process_end const& end);

/// now_ns is the clock of all times in a trace.
[[nodiscard]] std::uint64_t now_ns() noexcept;

} // namespace cleat::locks
