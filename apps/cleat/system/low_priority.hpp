// low_priority: the scheduling of threads that must not delay the workers.

#pragma once

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app {

/// lower_priority lowers the priority of the calling thread and of those that it starts: on Linux
/// each thread has a priority of its own. With idle CPUs the thread is as fast as any other.
///
/// The niceness sets the thread's share of a busy CPU, a tenth of a worker's. It does not make the
/// scheduler switch to a worker at once: a worker that wakes up goes first where its deadline is
/// the earlier one. The slice makes the thread's deadline later: at this niceness it counts ten
/// times, and a worker's slice is at most 2.8 ms. A worker that has had more than its share still
/// has to wait. So the thread calls std::this_thread::yield() every 0.1 ms or so. Kernels before
/// 6.12 ignore the slice.
inline void lower_priority() noexcept
{
    auto const thread = static_cast<id_t>(::gettid());
    int const niceness = std::max(10, ::getpriority(PRIO_PROCESS, thread)); // Never a higher one.
    static_cast<void>(::setpriority(PRIO_PROCESS, thread, niceness));

    // sched_setattr(2), which the C library has no function for before glibc 2.41.
    struct
    {
        std::uint32_t size = 48; // SCHED_ATTR_SIZE_VER0
        std::uint32_t policy = 0;
        std::uint64_t flags = 0x08; // SCHED_FLAG_KEEP_POLICY
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t runtime = 500'000; // Nanoseconds of a slice. A yield forgoes one.
        std::uint64_t deadline = 0;
        std::uint64_t period = 0;
    } attributes;
    attributes.nice = niceness;
    static_assert(sizeof attributes == 48);
    static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0U));
}

} // namespace cleat::app
