// holders: who held a lock while others waited for it; deadlocks; and locks in both orders.

#pragma once

#include "report/named_stacks.hpp"
#include "report/profile.hpp"
#include "report/trace.hpp"

#include <cstdint>
#include <vector>

namespace cleat::locks {

/// add_holders adds to a profile which locks the threads of one process waited for. `locks` are the
/// process's, and `counted_in` is the lock in which each of its entries is counted.
void add_holders(
    profile& made, traced_process const& process, std::vector<lock> const& locks,
    std::vector<std::uint32_t> const& counted_in, naming& names);

} // namespace cleat::locks
