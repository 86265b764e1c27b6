// holders: who held a lock while others waited for it; deadlocks; and locks in both orders.

#pragma once

#include "report/named_stacks.hpp"
#include "report/profile.hpp"
#include "report/trace.hpp"

#include <cstdint>
#include <vector>

namespace cleat::locks {

/// add_holders adds what one process's threads waited for to a profile. `locks` are the process's,
/// and `counted_in` says for each of its entries in which lock it is counted.
void add_holders(
    profile& made, traced_process const& process, std::vector<lock> const& locks,
    std::vector<std::uint32_t> const& counted_in, naming& names);

} // namespace cleat::locks
