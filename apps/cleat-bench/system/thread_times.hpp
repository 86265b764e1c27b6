// thread_times: the CPU time of the calling thread, and its waits for a core.

#pragma once

#include <chrono>
#include <optional>

namespace cleat::bench {

struct thread_times
{
    std::chrono::nanoseconds wall{}; ///< Time that passed.
    std::chrono::nanoseconds cpu{};  ///< On a core.
    /// Ready to run, and no core was free for it. Unset: the kernel does not count it.
    std::optional<std::chrono::nanoseconds> waited;
};

/// times_of_this_thread count from the start of the thread, and wall from that of the machine. All
/// are read within half a millisecond, if the thread keeps its core so long. It takes a few
/// microseconds.
[[nodiscard]] thread_times times_of_this_thread() noexcept;

/// operator- is what was accounted from one reading to a later one.
[[nodiscard]] thread_times operator-(thread_times const& later, thread_times const& first) noexcept;

} // namespace cleat::bench
