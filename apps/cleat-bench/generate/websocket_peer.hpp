// websocket_peer: a client's end of one WebSocket (RFC 6455): which bytes it sends, and what the
// server's bytes mean. A machine without sockets.

#pragma once

#include "generate/load_spec.hpp"
#include "generate/websocket_frame.hpp"
#include "generate/websocket_message.hpp"
#include "generate/websocket_opening.hpp"
#include "system/entropy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cleat::bench {

/// websocket_peer opens the WebSocket, sends messages one at a time and compares their echoes, and
/// answers pings. The load and the random bytes must outlive it.
class websocket_peer
{
public:
    /// A longer message of the server breaks the WebSocket.
    static constexpr std::uint64_t message_max = std::uint64_t{256} << 20U;

    /// `request` has no_key in the place of its key.
    websocket_peer(websocket_load const& load, std::string request, entropy& random);

    [[nodiscard]] bool has_to_send() const noexcept;
    /// is_sending: the request, or a message, is not over.
    [[nodiscard]] bool is_sending() const noexcept
    {
        return requested_ != request_.size() || !message_.is_over();
    }
    /// make writes the next bytes to send, and gives their number. The caller sends all of them.
    std::size_t make(std::span<std::byte> block) noexcept;

    /// take takes bytes of the server.
    void take(std::span<std::byte const> bytes);

    /// send_message begins a message. There must be none that waits for its echo.
    void send_message();
    /// close begins the closing handshake (RFC 6455, section 7.1.2).
    void close() noexcept;

    /// goal is what the client waits for.
    enum class goal : std::uint8_t
    {
        opened,
        echoed, ///< The message that was sent last.
        closed, ///< The server's Close has come.
    };
    [[nodiscard]] bool has_reached(goal wanted) const noexcept
    {
        return wanted == goal::opened   ? is_open_
               : wanted == goal::echoed ? !echo_.has_value()
                                        : is_closed_;
    }
    /// fault is why it has failed: a failure's kind. Empty: it has not.
    [[nodiscard]] std::string const& fault() const noexcept { return fault_; }

    /// take_progress: since it was asked last, the server has gone on with what is awaited. A ping
    /// is none.
    [[nodiscard]] bool take_progress() noexcept { return std::exchange(progress_, false); }

    /// heard is what has come since it was asked last.
    struct heard
    {
        std::uint64_t pings = 0;
        std::uint64_t messages = 0;
    };
    [[nodiscard]] heard take_heard() noexcept { return std::exchange(heard_, {}); }

private:
    std::size_t make_request(std::span<std::byte> block) noexcept;
    std::size_t make_control(
        std::span<std::byte> block, opcode kind, std::span<std::byte const> payload) noexcept;
    void take_frames(std::span<std::byte const> bytes);
    void on_data(std::span<std::byte const> part, bool is_last);
    void on_control();
    void on_close();

    websocket_load const& load_;
    entropy& random_;
    std::string request_;
    std::size_t requested_ = 0; // Bytes of the request that were made.
    std::optional<opening_answer> opening_;
    frame_reader reader_{message_max};
    outgoing_message message_;
    std::optional<awaited_echo> echo_;
    std::string fault_;
    std::optional<std::string> pong_; // To send: the payload of the latest ping.
    std::optional<unsigned> close_;   // To send: the code; 1005: none.
    heard heard_;
    bool is_open_ = false;
    bool closes_ = false; // We have begun to close it.
    bool is_closed_ = false;
    bool progress_ = false;
};

} // namespace cleat::bench
