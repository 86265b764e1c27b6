// priority: the order in which a worker serves descriptors when many are ready.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cleat::net {

/// priority of the waits for a descriptor (readiness::entry::set_priority). In each turn of its
/// loop a worker serves everything `established`, and then the other two kinds, each for a bounded
/// time (limits::bulk_time, limits::handshake_time) and at least one of each. The rest waits in
/// order for the next turn. So small requests do not wait for costly connections, and no connection
/// starves.
enum class priority : std::uint8_t
{
    established, ///< Little to do: at most a record in all.
    bulk,        ///< A transfer, whose turn may be a MiB each way.
    handshake,   ///< Public-key work; and accepting: new connections wait in the kernel.
};
inline constexpr std::size_t priority_count = 3;

} // namespace cleat::net
