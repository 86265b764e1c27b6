#include "report/stop_wait.hpp"

#include <condition_variable>
#include <mutex>

namespace cleat::locks {

void sleep_until(std::stop_token const& stop, std::chrono::steady_clock::time_point time)
{
    std::mutex mutex; // For the condition alone.
    std::condition_variable_any condition;
    std::unique_lock lock{mutex};
    condition.wait_until(lock, stop, time, [] { return false; });
}

} // namespace cleat::locks
