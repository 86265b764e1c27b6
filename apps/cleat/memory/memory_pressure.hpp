// memory_pressure: what a worker knows of the level of memory.

#pragma once

#include "memory/memory_level.hpp"

#include <cleat/core/limits.hpp>

#include <cstddef>

namespace cleat::app {

/// memory_pressure belongs to its worker's thread, which gets each new share through its queue: a
/// connection reads plain values of its own worker.
class memory_pressure
{
public:
    /// follow takes the share of a new reading. True: connections that have stalled end now. It is
    /// true once for each time that they were to end, or for several of these together.
    bool follow(memory_share share) noexcept
    {
        bool const ends_stalled =
            share.level == memory_level::full && share.evictions != share_.evictions;
        share_ = share;
        turn_max_ = share.level == memory_level::normal  ? limits::turn_max
                    : share.level == memory_level::tight ? limits::turn_tight
                                                         : limits::turn_full;
        return ends_stalled;
    }

    [[nodiscard]] memory_level level() const noexcept { return share_.level; }

    /// admits a connection, and counts it. False: none may begin until the next reading.
    [[nodiscard]] bool admits() noexcept
    {
        if (share_.admitted == memory_share::unlimited)
            return true;
        if (share_.admitted == 0)
            return false;
        --share_.admitted;
        return true;
    }

    /// turn_max is the largest turn of a relay: what a receiver does not take of it stays in
    /// memory.
    [[nodiscard]] std::size_t turn_max() const noexcept { return turn_max_; }

private:
    memory_share share_;
    std::size_t turn_max_ = limits::turn_max;
};

} // namespace cleat::app
