// thread_times: what the kernel has accounted to the calling thread.

#pragma once

#include <chrono>
#include <optional>

namespace cleat::bench {

struct thread_times
{
    std::chrono::nanoseconds wall{}; ///< That passed.
    std::chrono::nanoseconds cpu{};  ///< On a core.
    /// Ready to run, and no core was free for it. Unset: this kernel does not tell.
    std::optional<std::chrono::nanoseconds> waited;
};

/// times_of_this_thread are those since it began, and wall since the machine did, all read within
/// half a millisecond if the thread keeps its core so long. They cost a few microseconds.
[[nodiscard]] thread_times times_of_this_thread() noexcept;

/// operator- is what was accounted from one reading to a later one.
[[nodiscard]] thread_times operator-(thread_times const& later, thread_times const& first) noexcept;

} // namespace cleat::bench
