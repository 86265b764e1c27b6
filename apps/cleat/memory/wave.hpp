// wave: a count of things that hold memory, which has risen and has fallen again.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// wave follows the number of such things on a worker. A wave has ended when the number has fallen
/// by wave_size at least, and to half of the highest one since the last wave.
///
/// The memory of the highest number is free then, and the allocator keeps it. A number that rises
/// and falls by less has no waves: the same memory is used again.
class wave
{
public:
    /// wave_size things of 2 to 60 KiB are a megabyte or more.
    static constexpr std::size_t wave_size = 256;

    /// on_rise, on_fall: the number is `count` now. The worker's thread only.
    void on_rise(std::size_t count) noexcept
    {
        if (count > highest_)
            highest_ = count;
    }
    void on_fall(std::size_t count) noexcept
    {
        if (count + wave_size > highest_ || count > highest_ / 2)
            return;
        highest_ = count;
        ended_.store(ended() + 1, std::memory_order_relaxed); // There is only one writer.
    }

    /// ended is the number of waves that have ended so far. Any thread.
    [[nodiscard]] std::uint64_t ended() const noexcept
    {
        return ended_.load(std::memory_order_relaxed);
    }

private:
    std::size_t highest_ = 0;
    std::atomic<std::uint64_t> ended_{0};
};

} // namespace cleat::app
