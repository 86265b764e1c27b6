// http2_peer: a client's end of one HTTP/2 connection (RFC 9113): which bytes it sends, and what
// the server's bytes mean for each stream. A machine without sockets, by nghttp2's library.

#pragma once

#include "generate/load_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace cleat::bench {

/// http2_peer begins requests, each on a stream of its own, and checks their answers. It answers
/// SETTINGS and PING, and opens the server's windows again. The load and the exchange must outlive
/// it. One thread.
class http2_peer
{
public:
    /// window is what a server may send without a WINDOW_UPDATE, on a stream and on the connection:
    /// so much that the client never makes a server wait.
    static constexpr std::int32_t window = 1 << 30;

    /// Throws std::bad_alloc.
    http2_peer(http2_load const& load, exchange const& wanted);
    http2_peer(http2_peer&&) = delete;
    ~http2_peer();

    [[nodiscard]] bool has_to_send() const noexcept;
    /// make writes the next bytes to send, and gives their number. The caller sends all of them.
    std::size_t make(std::span<std::byte> block);

    /// take takes bytes of the server.
    void take(std::span<std::byte const> bytes);
    /// end says that the server's bytes have ended: fault() is final then.
    void end();

    /// room is how many streams may begin now. The first one need not wait for the server's
    /// SETTINGS; others do, because these say how many the server allows.
    [[nodiscard]] unsigned room() const noexcept;
    /// open is how many streams are open.
    [[nodiscard]] unsigned open() const noexcept;
    /// begin begins the request of that path on a stream, and gives the stream's number: from 0 on,
    /// below http2_load::streams, and free again after its end. There must be room.
    unsigned begin(std::size_t path);
    /// cancel resets a stream. It has no more events.
    void cancel(unsigned stream);
    /// close ends the connection by a GOAWAY that says NO_ERROR.
    void close();

    /// event is what has come of a stream.
    struct event
    {
        enum class kind : std::uint8_t
        {
            went,  ///< Some of the request's body has left.
            came,  ///< Some of the answer has come.
            ended, ///< The answer is whole and right where `fault` is empty.
        };
        unsigned stream;
        kind what;
        /// The server says that it has not touched the request (RFC 9113, section 8.7): its GOAWAY
        /// left out the stream.
        bool is_unprocessed = false;
        std::string fault{}; ///< A failure's kind.
    };
    /// events are those since they were cleared.
    [[nodiscard]] std::span<event> events() noexcept;
    void clear_events() noexcept;

    /// fault is how the server has broken the protocol: a failure's kind. Empty: it has not.
    [[nodiscard]] std::string const& fault() const noexcept;

    /// leave is a GOAWAY of the server: no stream begins after it.
    struct leave
    {
        std::string reason; ///< The name of its error code.
        bool is_graceful;   ///< NO_ERROR.
        bool has_served;    ///< It has processed some stream of this connection, or will.
    };
    [[nodiscard]] std::optional<leave> const& left() const noexcept;
    /// is_used_up: no stream may begin any more, by a GOAWAY or because no stream's number is left.
    [[nodiscard]] bool is_used_up() const noexcept;

    /// allowed is how many streams the server's SETTINGS allow; unset before they have come.
    [[nodiscard]] std::optional<std::uint32_t> allowed() const noexcept;

private:
    struct library; // The part that knows nghttp2.

    std::unique_ptr<library> library_;
};

} // namespace cleat::bench
