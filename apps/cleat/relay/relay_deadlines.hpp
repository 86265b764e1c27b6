// relay_deadlines: how long a relay waits for its peers.

#pragma once

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>

namespace cleat::app {

/// relay_deadlines are how long a relay waits for the next byte, and for a client's close.
struct relay_deadlines
{
    std::chrono::milliseconds idle{}; ///< 0: no deadline.
    std::chrono::milliseconds linger = limits::linger_timeout;

    /// after_break is how long the last bytes of a broken side wait for their receiver. Never 0:
    /// the broken side may cause no further event.
    [[nodiscard]] std::chrono::milliseconds after_break() const noexcept
    {
        return idle.count() == 0 ? linger : std::min(idle, linger);
    }
};

} // namespace cleat::app
