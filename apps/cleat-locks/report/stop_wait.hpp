// stop_wait: a wait that a stop token ends at once.

#pragma once

#include <chrono>
#include <stop_token>

namespace cleat::locks {

/// sleep_until returns at that time, or as soon as a stop is requested. Any thread.
void sleep_until(std::stop_token const& stop, std::chrono::steady_clock::time_point time);

} // namespace cleat::locks
