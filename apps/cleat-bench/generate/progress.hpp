// progress: the figures of a load while it runs.

#pragma once

#include "generate/tally.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::bench {

/// progress of one worker, or of all.
struct progress
{
    std::chrono::nanoseconds since_begin{}; ///< Negative during the warm-up.
    std::uint64_t attempts = 0;
    std::uint64_t ok = 0;
    bench::failures failures;
    std::size_t in_flight = 0;
    latency response;
    latency slip;
    std::vector<interval> timeline;
    std::vector<interval> by_start; ///< Where load_spec::by_start asks for it.
    std::chrono::nanoseconds cpu{};
};

/// add adds the progress of another worker or host. `since_begin` stays.
void add(progress& sum, progress const& more);

} // namespace cleat::bench
