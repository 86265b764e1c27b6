// sample_waits: samples where the threads of a recording wait, from outside of their processes.

#pragma once

#include "report/off_cpu.hpp"

#include <filesystem>
#include <stop_token>

namespace cleat::locks {

/// sample_waits samples the processes that have a trace in a folder, until its caller stops it. It
/// writes PID.waits beside each trace, and a file of the processes that have none. It uses at most
/// one part in 50 of a core's time for each.
void sample_waits(std::filesystem::path const& folder, std::stop_token const& stop);

/// sample_process samples a process without a trace for this time, or until it ends.
[[nodiscard]] off_cpu_record sample_process(int pid, double seconds);

} // namespace cleat::locks
