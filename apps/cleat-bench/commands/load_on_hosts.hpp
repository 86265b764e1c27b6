// load_on_hosts: `load --hosts`, the same load on several machines at one time, and its sum.

#pragma once

#include "commands/load.hpp"
#include "hosts/host_run.hpp"
#include "result/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cleat::bench {

/// run_on_hosts runs the load on all hosts of the request and gives the sum of their results, with
/// `hosts` set. A host that is lost in the middle is named there. Throws host_away before anything
/// has begun, interrupted, and std::runtime_error where no host has a result.
[[nodiscard]] result run_on_hosts(load_request const& request);

/// sum_of_hosts adds the results of the hosts up. `warm_up` is the load's; `stopped`: a signal
/// ended it. Throws std::runtime_error.
[[nodiscard]] result sum_of_hosts(
    std::vector<host_run>& hosts, std::chrono::nanoseconds warm_up, bool stopped);

} // namespace cleat::bench
