// websocket_frame: the frames of a WebSocket (RFC 6455, section 5). A machine over bytes, and what
// a client writes. No sockets.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cleat::bench {

/// opcode is the kind of a frame (RFC 6455, section 5.2).
enum class opcode : std::uint8_t
{
    continuation = 0x0,
    text = 0x1,
    binary = 0x2,
    close = 0x8,
    ping = 0x9,
    pong = 0xA
};

/// masking_key is of one frame of a client, and has to be unpredictable (RFC 6455, section 5.3).
using masking_key = std::array<std::byte, 4>;

/// control_max is the most bytes that a control frame has (RFC 6455, section 5.5).
inline constexpr std::size_t control_max = 125;
/// frame_head_max is the longest head of a client's frame.
inline constexpr std::size_t frame_head_max = 14;

/// write_head writes the head of a client's frame that is whole, and gives its size. `head` has
/// frame_head_max bytes.
std::size_t write_head(
    std::span<std::byte, frame_head_max> head, opcode kind, std::uint64_t size,
    masking_key key) noexcept;

/// mask changes bytes of a frame that begin `offset` bytes after its head.
void mask(std::span<std::byte> bytes, masking_key key, std::uint64_t offset) noexcept;

/// frame_reader reads the frames of a server: messages in one frame or in many, with control frames
/// between these. It keeps no bytes of a message.
class frame_reader
{
public:
    /// message_max: a longer message is an error.
    explicit frame_reader(std::uint64_t message_max) noexcept : message_max_{message_max} {}

    enum class event : std::uint8_t
    {
        none,    ///< All bytes are taken, and no frame has gone on.
        part,    ///< Of a message: step::payload, which may be empty.
        message, ///< The last part of a message: step::payload, which may be empty.
        control, ///< A whole control frame: control().
        bad      ///< The server breaks the protocol: fault(). The reader is at its end.
    };

    struct step
    {
        event what = event::none;
        std::size_t taken = 0; ///< Bytes.
        std::span<std::byte const> payload;
    };

    /// take reads up to the next event. The payload is within `bytes`.
    [[nodiscard]] step take(std::span<std::byte const> bytes);

    /// kind is that of the message, or of the control frame, of the last event.
    [[nodiscard]] opcode kind() const noexcept { return is_control_ ? frame_ : message_; }
    /// control is the payload of the control frame. Valid until the next take.
    [[nodiscard]] std::span<std::byte const> control() const noexcept
    {
        return std::span{control_}.first(control_size_);
    }
    /// fault is what is wrong: "masked frame", "reserved bits".
    [[nodiscard]] std::string const& fault() const noexcept { return fault_; }

private:
    std::size_t take_head(std::span<std::byte const> bytes);
    void check_beginning();
    void begin_frame();
    [[nodiscard]] std::size_t head_size() const noexcept;
    [[nodiscard]] bool is_final() const noexcept;
    step take_payload(std::span<std::byte const> bytes, std::size_t taken);

    std::uint64_t message_max_;
    std::uint64_t message_size_ = 0; // With the frame that is read.
    std::uint64_t left_ = 0;         // Of the frame's payload.
    std::string fault_;
    std::array<std::byte, 10> head_{};
    std::array<std::byte, control_max> control_{};
    std::uint8_t head_read_ = 0;
    std::uint8_t control_size_ = 0;
    opcode frame_ = opcode::continuation;
    opcode message_ = opcode::continuation;
    bool in_payload_ = false;
    bool in_message_ = false; // It goes on with the next frame that is no control frame.
    bool is_control_ = false;
};

/// close_code reads the code of a Close frame's payload (RFC 6455, section 5.5.1); 1005: it has
/// none.
[[nodiscard]] unsigned close_code(std::span<std::byte const> payload) noexcept;

/// is_valid_close: such a payload may be sent (RFC 6455, section 7.4). Its reason is not checked.
[[nodiscard]] bool is_valid_close(std::span<std::byte const> payload) noexcept;

/// close_in_words is "closed with code 1001, going away", or "closed without a code".
[[nodiscard]] std::string close_in_words(unsigned code);

} // namespace cleat::bench
