// upstream_side: the plaintext side of a connection.

#pragma once

#include "relay/scratch_pipe.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/error.hpp>
#include <cleat/net/socket.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::app {

/// upstream_side is the plaintext side of a connection.
struct upstream_side
{
    static constexpr bool is_tls = false; ///< See tls_upstream.

    net::socket socket;
    byte_queue unsent; ///< Bytes that the socket has not taken yet.
    /// How many sends there were; before the second one Nagle's algorithm is turned off.
    std::uint32_t sends = 0;

    [[nodiscard]] bool has_unsent() const noexcept { return !unsent.empty(); }
    void drop_unsent() noexcept { unsent.clear(); }

    /// send sends the bytes, and keeps in `unsent` those that the socket does not take. True: the
    /// socket is full. `ec` is set when the connection is broken, or memory is short.
    [[nodiscard]] bool send(std::span<std::byte const> bytes, error_code& ec) noexcept;

    /// splice is send for the bytes of a pipe, which is empty then.
    [[nodiscard]] bool splice(scratch_pipe& pipe, error_code& ec) noexcept;

    /// flush sends the bytes in `unsent`. True: the socket is full. `ec` as in send.
    [[nodiscard]] bool flush(error_code& ec) noexcept;
};

} // namespace cleat::app
