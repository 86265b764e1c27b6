// memory_counts: what the thread that keeps max-memory has read.

#pragma once

#include "memory/memory_level.hpp"

#include <atomic>
#include <cstdint>

namespace cleat::app {

/// memory_counts are written by that thread, and read by any.
struct memory_counts
{
    std::atomic<std::uint64_t> limit{0}; ///< Bytes; 0: there is none.
    std::atomic<std::uint64_t> in_use{0};
    std::atomic<memory_level> level{memory_level::normal};
    std::atomic<std::uint64_t> changes{0};  ///< Of the level.
    std::atomic<std::uint64_t> failures{0}; ///< Readings that gave no number.
    std::atomic<int> last_failure{0};       ///< The errno of the last of these.
};

} // namespace cleat::app
