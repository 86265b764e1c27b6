// ticket_file_counts: what the main thread counts of the file that ticket-ratchet rewrites.

#pragma once

#include <atomic>
#include <cstdint>

namespace cleat::app {

/// ticket_file_counts is written by the main thread, and read by any.
struct ticket_file_counts
{
    std::atomic<std::uint64_t> failures{0}; ///< Of which the log has ticket-state-not-written.
};

} // namespace cleat::app
