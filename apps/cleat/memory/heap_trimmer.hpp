// heap_trimmer: gives memory that the allocator keeps back to the kernel.

#pragma once

#include "memory/trim_schedule.hpp"

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <thread>

namespace cleat::app {

/// heap_trimmer calls malloc_trim on a thread of its own, which has the priority of the thread that
/// made it. malloc_trim holds the lock of a worker's part of the heap while it looks through it: 10
/// ms for 60 MB that are free, 0.1 ms where nothing is. If that thread had a low priority, and the
/// scheduler stopped it while it holds the lock, the worker would wait for longer.
class heap_trimmer
{
public:
    heap_trimmer() : thread_{[this] { run(); }} {}
    heap_trimmer(heap_trimmer&&) = delete;
    ~heap_trimmer();

    /// look gives memory back where it is time: see trim_schedule, which `freed` is for. It returns
    /// at once. One thread calls it, each second or so.
    void look(trim_schedule::clock::time_point now, std::uint64_t freed) noexcept;

    /// request gives memory back now, and returns at once. Any thread.
    void request() noexcept;

private:
    void run() noexcept;

    trim_schedule schedule_;
    std::binary_semaphore requested_{0};
    std::atomic<bool> is_requested_{false};
    std::atomic<bool> is_ending_{false};
    std::thread thread_;
};

} // namespace cleat::app
