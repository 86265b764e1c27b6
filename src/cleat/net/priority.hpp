// priority: the order in which a worker serves descriptors when many are ready.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cleat::net {

/// priority of the waits for a descriptor (readiness::entry::set_priority). In each pass of its
/// event loop a worker serves all ready descriptors that are `established`; then `bulk`,
/// `handshake` and `signature`, each for a bounded time (limits::bulk_time,
/// worker::set_handshake_time), but at least one descriptor of each. The others stay queued for the
/// next pass. So small requests do not wait for costly connections, and no connection starves.
enum class priority : std::uint8_t
{
    established, ///< Nothing that costs much: the last turn moved at most a record.
    bulk,        ///< A transfer, whose turn may be 1 MiB in each direction.
    handshake,   ///< A handshake's public-key work; or a listening socket, which leads to it.
    signature,   ///< A full handshake while many others wait, of which some cost less.
};
/// priority_count is how many there are.
inline constexpr std::size_t priority_count = 4;

} // namespace cleat::net
