// plain_client: the client's side of a connection whose bytes are relayed as they are: those of a
// passthrough are TLS, which is not decrypted here; those of a client in plaintext are not TLS.

#pragma once

#include "relay/scratch_pipe.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>

#include <cstddef>
#include <span>

namespace cleat::app {

/// plain_client has the calls of a net::channel that a relay makes, for bytes as they are.
struct plain_client
{
    net::socket socket;
    byte_queue unsent{}; ///< Bytes that the socket has not taken yet.

    /// read receives at most `turn` bytes. error::closed: the client's FIN has come.
    [[nodiscard]] net::progress read(
        std::span<std::byte> block, std::size_t turn, bool ended) noexcept;

    /// write takes all bytes, or fails. net::wait::writable: the socket is full; flush follows.
    [[nodiscard]] net::progress write(std::span<std::byte const> bytes) noexcept;
    [[nodiscard]] net::progress flush() noexcept;

    /// splice is write for the bytes of a pipe, which is empty then.
    [[nodiscard]] net::progress splice(scratch_pipe& pipe) noexcept;
};

} // namespace cleat::app
