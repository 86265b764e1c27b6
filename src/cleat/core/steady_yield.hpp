// steady_yield: long work on a thread of low priority that lets other threads go first.

#pragma once

#include <cstddef>
#include <thread>

namespace cleat {

/// steady_yield yields once in a number of steps. A scheduler may let a thread with a higher
/// priority wait until the slice of another one ends. A yield of a thread that has its core alone
/// costs less than a microsecond.
class steady_yield
{
public:
    /// With steps of some microseconds: a yield every 0.1 ms or so.
    explicit steady_yield(std::size_t steps = 16) noexcept : steps_{steps} {}

    /// count_step is called after each step.
    void count_step() noexcept
    {
        if (++done_ % steps_ == 0)
            std::this_thread::yield();
    }

private:
    std::size_t steps_;
    std::size_t done_ = 0;
};

} // namespace cleat
