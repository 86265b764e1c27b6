// wire: the ciphertext side of one call into a TLS engine, two spans over memory of the caller.

#pragma once

#include <cstddef>
#include <span>

namespace cleat::tls {

/// wire is what the engine may read and where it may write during one call. The engine moves the
/// beginning of both spans: afterwards `in` is what it has not read, and `out` is the room left.
struct wire
{
    // house(objects): `in` and `out` are a pair.
    std::span<std::byte const> in; ///< Received ciphertext that the engine has not read yet.
    std::span<std::byte> out; ///< Room for ciphertext to send: at least one record's, for progress.
    bool in_ended = false;    ///< The peer has sent FIN; no bytes follow those in `in`.
};

} // namespace cleat::tls
