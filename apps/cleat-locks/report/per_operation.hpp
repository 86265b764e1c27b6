// per_operation: what each operation of a program costs in locks, and how many cores it could use.
//
// The utilisation law: a lock that is held for S of each operation lets at most 1/S operations a
// second through, whatever the number of cores. A core does 1/C operations a second, C being the
// CPU time of one. So that lock alone is saturated by C/S cores.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cleat::locks {

/// lock_price is what one operation pays at one lock.
struct lock_price
{
    lock const* priced = nullptr;
    double acquisitions = 0;
    double shared = 0;
    double contended = 0;
    double wait_ns = 0;
    /// For so long others are kept out. Readers of a read-write lock keep nobody out but writers:
    /// they are not in it.
    double held_ns = 0;
    double operations_per_second_max = 0; ///< 0: nothing limits them here.
    double cores_max = 0;                 ///< Where that is reached; 0: nowhere.
};

struct operation_prices
{
    std::uint64_t operations = 0;
    double cpu_ns = 0; ///< Of one operation.
    double acquisitions = 0;
    double shared = 0;
    double wait_ns = 0;
    bool interruptions = true;     ///< As in the profile.
    std::vector<lock_price> locks; ///< The one that saturates first comes first.
};

/// per_operation divides a profile by the operations of its run; `operations` is not zero.
[[nodiscard]] operation_prices per_operation(profile const& recorded, std::uint64_t operations);

/// throughput is how many operations a second `cores` do at most, with these locks.
[[nodiscard]] double throughput(operation_prices const& prices, double cores);

/// throughput_point is how many operations a second so many cores do at most.
struct throughput_point
{
    int cores = 0;
    double operations_per_second = 0;
    double without_locks = 0;
};

/// throughput_by_cores goes from one core to 128, each time twice as many.
[[nodiscard]] std::vector<throughput_point> throughput_by_cores(operation_prices const& prices);

[[nodiscard]] std::string per_operation_text(operation_prices const& prices, std::size_t most);

} // namespace cleat::locks
