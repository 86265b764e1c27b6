// dns_counts: how lookups have ended.

#pragma once

#include <atomic>
#include <cstdint>

namespace cleat::app {

/// dns_counts are written by the resolver's thread, and read by any.
struct dns_counts
{
    std::atomic<std::uint64_t> answered{0};
    std::atomic<std::uint64_t> failed{0};  ///< In whole or part.
    std::atomic<std::uint64_t> failing{0}; ///< Names whose last lookup has failed.
};

} // namespace cleat::app
