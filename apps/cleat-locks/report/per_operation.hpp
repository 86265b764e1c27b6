// per_operation: what each operation of a program costs in locks, and how many cores it could use.
//
// The utilisation law: a lock that is held for S of each operation lets at most 1/S operations a
// second through, whatever the number of cores. A core does 1/C operations a second, C being the
// CPU time of one. So C/S cores saturate that lock. Readers of a read-write lock share it, but each
// writes its cache line; the time for which the line travels between cores is a bound of that kind.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cleat::locks {

/// lock_price is the cost of one operation at one lock.
struct lock_price
{
    lock const* priced = nullptr; ///< In the profile, which outlives this.
    double acquisitions = 0;
    double shared = 0;
    double contended = 0;
    double wait_ns = 0;
    /// The time for which other threads are kept out. Readers of a read-write lock keep out writers
    /// only, and are not counted.
    double held_ns = 0;
    double held_low_ns = 0; ///< Where the true value of held_ns is, with a probability of 95 %.
    double held_high_ns = 0;
    /// The time in which its cache line moves from core to core for readers. They do not keep each
    /// other out, but the line is at one core at a time.
    double line_ns = 0;
    std::string refused; ///< Why there is no figure: waits contradict the holds; empty: there is.
    double operations_per_second_max = 0; ///< 0: this lock does not limit them.
    double cores_max = 0;                 ///< Cores that reach it; 0: no number does.
};

struct operation_prices
{
    std::uint64_t operations = 0;
    double cpu_ns = 0; ///< CPU time of one operation.
    double acquisitions = 0;
    double shared = 0;
    double wait_ns = 0;
    bool interruptions = true; ///< As in the profile, as is the next.
    double line_ns = 0;
    std::vector<lock_price> locks; ///< The one that saturates first comes first.
};

/// per_operation divides a profile by the operations of its run; `operations` is not zero.
[[nodiscard]] operation_prices per_operation(profile const& recorded, std::uint64_t operations);

/// throughput is the most operations a second of `cores` with these locks.
[[nodiscard]] double throughput(operation_prices const& prices, double cores);

/// throughput_point is the most operations a second of a number of cores.
struct throughput_point
{
    int cores = 0;
    double operations_per_second = 0;
    double without_locks = 0;
};

/// throughput_by_cores has a point for 1, 2, 4 and so on up to 128 cores.
[[nodiscard]] std::vector<throughput_point> throughput_by_cores(operation_prices const& prices);

[[nodiscard]] std::string per_operation_text(operation_prices const& prices, std::size_t most);

} // namespace cleat::locks
