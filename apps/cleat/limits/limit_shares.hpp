// limit_shares: a worker's part of a limit that is for all workers together. The kernel spreads
// connections over the workers at random, and workers do not ask one another.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// exact_share is a worker's part of a limit that is never exceeded: the parts of all workers make
/// up the limit. `worker` is its number.
[[nodiscard]] constexpr std::uint32_t exact_share(
    std::uint32_t limit, std::size_t worker, std::size_t workers) noexcept
{
    auto const each = static_cast<std::uint32_t>(limit / workers);
    return each + (worker < limit % workers ? 1 : 0);
}

/// lenient_share is a worker's part of a limit that a client may use up: its mean part, and three
/// standard deviations of a random spread, so that few workers get more than that of a client who
/// keeps to the limit. It is limits::client_share_min at least, and at most the limit.
[[nodiscard]] std::uint32_t lenient_share(std::uint32_t limit, std::size_t workers) noexcept;

/// burst_share is the same for a bucket of tokens, which arrive slowly at each of many workers, and
/// may be more than the limit.
[[nodiscard]] std::uint32_t burst_share(std::uint32_t limit, std::size_t workers) noexcept;

} // namespace cleat::app
