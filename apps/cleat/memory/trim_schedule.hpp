// trim_schedule: when memory that is free goes back to the kernel.

#pragma once

#include <chrono>
#include <cstdint>

namespace cleat::app {

/// trim_schedule decides by a number that grows whenever much memory has become free: waves of
/// connections that have ended, and configurations that were freed. It is time when the number has
/// been the same for `calm`. Under a load that comes in waves without a pause the memory stays:
/// the next wave needs it, and page faults would cost more than it is worth.
class trim_schedule
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::seconds calm{2};
    static constexpr std::chrono::seconds interval{10}; ///< Between two times, at least.

    /// is_time: the caller gives memory back now. `ended` is that number.
    [[nodiscard]] bool is_time(clock::time_point now, std::uint64_t ended) noexcept
    {
        if (ended != ended_) {
            ended_ = ended;
            is_due_ = true;
            due_ = now + calm;
        }
        if (!is_due_ || now < due_ || now < next_)
            return false;
        is_due_ = false;
        next_ = now + interval;
        return true;
    }

private:
    std::uint64_t ended_ = 0;
    bool is_due_ = false;
    clock::time_point due_{};
    clock::time_point next_{};
};

} // namespace cleat::app
