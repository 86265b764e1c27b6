// worker_turns: how long a connection may go on before the others of its worker, and how long it
// may wait.

#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>

namespace cleat::bench {

/// rounds_max: consecutive sends and reads of a connection before its worker's other connections
/// and deadlines get a turn. A server may send without a pause.
inline constexpr unsigned rounds_max = 16;

/// next_look is how long a connection waits at most for a moment that is `left` away, before it
/// looks again: not beyond the moment, and at least a millisecond. A worker has a queue for each
/// length of its deadlines, so the lengths are powers of two, and the last ones are short.
[[nodiscard]] inline std::chrono::milliseconds next_look(std::chrono::nanoseconds left) noexcept
{
    auto const whole = std::chrono::floor<std::chrono::milliseconds>(left).count();
    return std::chrono::milliseconds{
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 1)))};
}

} // namespace cleat::bench
