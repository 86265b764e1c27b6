// wire: the ciphertext side of one call into a TLS engine, two spans over memory of the caller.

#pragma once

#include <cstddef>
#include <span>

namespace cleat::tls {

/// wire is what the engine may read and where it may write during one call. The engine moves both
/// fronts: afterwards `in` is what it has not read, and `out` is the room that is left.
struct wire
{
    std::span<std::byte const> in; ///< Ciphertext that has come and that TLS has not read yet.
    std::span<std::byte> out; ///< Room for ciphertext to send. At least a record's worth, please.
    bool in_ended = false;    ///< The peer sent FIN: nothing will come after `in`.
};

} // namespace cleat::tls
