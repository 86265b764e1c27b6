// websocket_message: the messages that a load sends over WebSockets, and whether an echo is one.

#pragma once

#include "generate/websocket_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::bench {

/// message_bytes writes the bytes of a message from `offset` on. They are letters and digits, so
/// that they are text as well: the message's number in 16 hexadecimal digits, then a pattern whose
/// period is a prime, so that a piece that is lost, doubled or moved shows. A message of fewer
/// bytes has the first of them.
void message_bytes(std::uint64_t number, std::uint64_t offset, std::span<std::byte> bytes) noexcept;

/// is_message: these are the message's bytes from `offset` on.
[[nodiscard]] bool is_message(
    std::uint64_t number, std::uint64_t offset, std::span<std::byte const> bytes) noexcept;

/// outgoing_message is a client's frame with a whole message. Its bytes are made when they are
/// sent: a message that waits for the socket has no memory.
class outgoing_message
{
public:
    outgoing_message() = default; ///< Nothing to send.
    outgoing_message(
        opcode kind, std::uint64_t number, std::uint64_t size, masking_key key) noexcept;

    [[nodiscard]] bool is_over() const noexcept { return made_ == head_size_ + size_; }
    [[nodiscard]] bool has_begun() const noexcept { return made_ != 0; }

    /// make writes the next bytes of the frame, and gives their number.
    std::size_t make(std::span<std::byte> block) noexcept;

private:
    std::array<std::byte, frame_head_max> head_{};
    masking_key key_{};
    std::size_t head_size_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t made_ = 0; // Of head and payload.
};

/// awaited_echo compares a message that comes in parts with the one that was sent.
class awaited_echo
{
public:
    awaited_echo(std::uint64_t number, std::uint64_t size) noexcept : number_{number}, size_{size}
    {
    }

    /// take gives what is wrong with it: "wrong echo", "long echo", or null.
    [[nodiscard]] char const* take(std::span<std::byte const> part) noexcept;
    /// end is called after the last part: "short echo", or null.
    [[nodiscard]] char const* end() const noexcept;

private:
    std::uint64_t number_;
    std::uint64_t size_;
    std::uint64_t seen_ = 0;
};

} // namespace cleat::bench
