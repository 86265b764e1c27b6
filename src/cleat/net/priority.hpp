// priority: what a worker goes by when more is ready than it can do at once.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cleat::net {

/// priority of what waits for a descriptor (readiness::entry::set_priority). In each turn of its
/// loop a worker serves all that is `established`, and then some of the others: each kind for a
/// bounded time (limits::bulk_time, limits::handshake_time), and at least one of it. The rest waits
/// for the next turn, in its order. So what one connection costs is not felt by those that ask for
/// little, and none starves.
enum class priority : std::uint8_t
{
    established, ///< Little to do: at most a record in all.
    bulk,        ///< A transfer, whose turn may be a MiB each way.
    handshake,   ///< Public-key work, and new connections, which wait in the kernel meanwhile.
};
inline constexpr std::size_t priority_count = 3;

} // namespace cleat::net
