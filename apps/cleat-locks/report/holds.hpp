// holds: how long a lock was held, by the holds that were timed.

#pragma once

#include <cstdint>
#include <string>

namespace cleat::locks {

/// hold_estimate is a mean of holds, and where the true mean is with a probability of 95 %.
struct hold_estimate
{
    double mean_ns = 0;
    double low_ns = 0;
    double high_ns = 0;
    bool has_interval = false; ///< Two holds of the sample at least.
};

/// timed_holds are holds that were timed, and those of them in which the kernel took the thread's
/// core away.
struct timed_holds
{
    std::uint64_t count = 0;
    std::uint64_t ns = 0;
    std::uint64_t interrupted = 0;
    std::uint64_t interrupted_ns = 0;
};

/// lock_use are the exclusive, or the shared, acquisitions of a lock.
struct lock_use
{
    std::uint64_t acquisitions = 0;
    std::uint64_t retaken = 0; ///< Taken again at the end of a wait for a condition: also holds.
    timed_holds sample;        ///< Of holds for which no thread waited.
    timed_holds waited;        ///< All for which a thread waited, from the lock's first wait on.
    double squares = 0;        ///< Of the sample's times in ns, without interrupted holds.
    std::uint64_t hold_max_ns = 0; ///< Of all that were timed.
    std::uint64_t sampled = 0;     ///< Acquisitions of the sample that began a hold.
    std::uint64_t inner = 0;       ///< Those that did not: the thread had the lock already.

    [[nodiscard]] std::uint64_t timed() const noexcept { return sample.count + waited.count; }
    [[nodiscard]] std::uint64_t interrupted() const noexcept
    {
        return sample.interrupted + waited.interrupted;
    }
    /// holds is how often the lock was held: inner acquisitions are no holds.
    [[nodiscard]] double holds() const noexcept;
    /// mean_hold is the mean of the holds that were not interrupted, unless all were.
    [[nodiscard]] hold_estimate mean_hold() const noexcept;
    [[nodiscard]] double mean_hold_ns() const noexcept { return mean_hold().mean_ns; }
    /// held_ns is the time that the lock was held in all, by the mean.
    [[nodiscard]] double held_ns() const noexcept { return holds() * mean_hold_ns(); }
    /// held_with_interrupted_ns is the same with the holds that were interrupted.
    [[nodiscard]] double held_with_interrupted_ns() const noexcept;
};

/// interrupted_text says how many timed holds were interrupted; empty where they are few.
[[nodiscard]] std::string interrupted_text(lock_use const& use);

/// interval_text says how exact the mean hold is; empty where that is better than a tenth.
[[nodiscard]] std::string interval_text(lock_use const& use);

} // namespace cleat::locks
