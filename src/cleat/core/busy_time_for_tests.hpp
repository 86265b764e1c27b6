// keep_busy: work of a known length, for tests.

#pragma once

#include <chrono>

namespace cleat {

/// keep_busy uses the calling thread's core until so much time has passed.
inline void keep_busy(std::chrono::steady_clock::duration time) noexcept
{
    auto const until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) {
    }
}

} // namespace cleat
