// socket_layer: TLS directly on a socket. It owns no buffer while it waits for readiness.

#pragma once

#include <cleat/core/adaptive_turn.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/socket_base.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace cleat::net {

// Its header needs that of a worker, for which a program with sockets of Asio's has no use.
class socket;

/// waitable_socket is a socket that can be waited on for readiness, and that has a descriptor:
/// net::socket and Asio's stream sockets. Any other layer reads and writes by itself (any_layer).
template <class T>
concept waitable_socket =
    std::same_as<T, socket> || (std::derived_from<T, boost::asio::socket_base> && requires(T& s) {
        {
            s.native_handle()
        } -> std::convertible_to<int>;
    });

namespace detail {

/// block_until_ready waits for one descriptor in poll(2): for the blocking functions.
[[nodiscard]] error_code block_until_ready(int fd, wait event) noexcept;

/// turn_for_reading is how much ciphertext to receive for `size` bytes of plaintext in whole
/// records.
[[nodiscard]] constexpr std::size_t turn_for_reading(std::size_t size) noexcept
{
    size = std::min(size, limits::turn_max);
    std::size_t const records = size / limits::plaintext_record_max + 1;
    return std::clamp(
        size + records * limits::record_overhead_max, limits::record_max, limits::turn_max);
}

} // namespace detail

/// socket_layer joins a channel with a waitable_socket. Its calls never block. Their progress says
/// what they wait for.
class socket_layer
{
public:
    /// waiting is an operation's state while it waits: none.
    struct waiting
    {
    };

    /// socket_layer with an engine of this context, which outlives it. Throws std::bad_alloc.
    explicit socket_layer(tls::context const& context) : channel_{context} {}

    /// handshake: see channel::handshake. This and the calls below are asio::error::bad_descriptor
    /// where this side has closed the socket.
    template <waitable_socket Next>
    progress handshake(Next& next) noexcept
    {
        if (!is_open(next))
            return closed_by_us();
        return channel_.handshake(transport_of(next), ended(next));
    }

    /// feed: see channel::feed.
    [[nodiscard]] bool feed(std::span<std::byte const> read_before) noexcept
    {
        return channel_.feed(read_before);
    }

    /// read: see channel::read. It receives about as much as fills `plaintext`.
    template <waitable_socket Next>
    progress read(Next& next, std::span<std::byte> plaintext) noexcept
    {
        if (!is_open(next))
            return closed_by_us();
        // Where the last read emptied the socket, another recv would only give EAGAIN.
        progress p{.next = wait::readable};
        if (!drained_ || readable(next)) {
            std::size_t const turn = detail::turn_for_reading(plaintext.size());
            p = channel_.read(transport_of(next), plaintext, turn, ended(next));
            drained_ = p.next == wait::readable;
        }
        // A server that waits for its client has no answer with which to send the session ticket;
        // and the client may wait for the acknowledgment that the ticket carries before it asks.
        if (p.next == wait::readable && p.bytes == 0)
            channel_.flush_held(transport_of(next));
        return p;
    }

    /// write: see channel::write. How much the socket takes decides on the size of the next turn.
    template <waitable_socket Next>
    progress write(Next& next, std::span<channel::piece const> pieces) noexcept
    {
        if (!is_open(next))
            return closed_by_us();
        progress const p = channel_.write(transport_of(next), pieces);
        // A socket that took all of a turn gets a larger one next. A smaller one for a full socket
        // keeps its unsent records few.
        if (channel_.unsent())
            turn_.shrink();
        else
            turn_.used(p.bytes);
        return p;
    }

    /// flush sends the records that the socket did not take.
    template <waitable_socket Next>
    progress flush(Next& next) noexcept
    {
        if (!is_open(next))
            return closed_by_us();
        return channel_.unsent() ? channel_.flush(transport_of(next)) : progress{};
    }

    /// close sends close_notify after all records. Call it until it is finished.
    template <waitable_socket Next>
    progress close(Next& next) noexcept
    {
        if (progress const p = flush(next); close_sealed_ || p.error || p.next != wait::none)
            return p;
        close_sealed_ = true;
        return channel_.close(transport_of(next));
    }

    /// unsent_after_failure: see any_layer. A channel has sent the alert already.
    [[nodiscard]] static bool unsent_after_failure() noexcept { return false; }

    /// turn is the most plaintext, in bytes, that one write takes.
    [[nodiscard]] std::size_t turn() const noexcept { return turn_.size(); }

    /// start_wait has the socket wait for the event, with this handler.
    template <waitable_socket Next, class Handler>
    void start_wait(Next& next, wait event, waiting&, Handler&& handler)
    {
        next.async_wait(
            event == wait::readable ? Next::wait_read : Next::wait_write,
            std::forward<Handler>(handler));
    }

    /// end_wait takes the result of that wait.
    error_code end_wait(wait event, waiting&, error_code ec, std::size_t, bool) noexcept
    {
        if (event == wait::readable && !ec)
            drained_ = false;
        return ec;
    }

    /// block waits in poll(2). asio::error::would_block where the program has made the socket
    /// non-blocking.
    template <waitable_socket Next>
    error_code block(Next& next, wait event, waiting& w) noexcept
    {
        if constexpr (requires { next.non_blocking(); })
            if (next.non_blocking())
                return boost::asio::error::would_block;
        return end_wait(event, w, detail::block_until_ready(next.native_handle(), event), 0, false);
    }

    /// engine is the TLS state.
    [[nodiscard]] tls::engine& engine() noexcept { return channel_.engine(); }
    [[nodiscard]] tls::engine const& engine() const noexcept { return channel_.engine(); }

private:
    static progress closed_by_us() noexcept
    {
        return {.error = boost::asio::error::bad_descriptor};
    }

    static bool is_open(auto& next) noexcept { return next.is_open(); }

    // A worker's socket remembers events. Asio's does not, and checks again at each wait.
    static transport transport_of(std::same_as<socket> auto& next) noexcept { return next.entry(); }
    static bool readable(std::same_as<socket> auto& next) noexcept
    {
        return next.entry().readable();
    }
    static bool ended(std::same_as<socket> auto& next) noexcept { return next.entry().ended(); }
    static transport transport_of(auto& next) noexcept { return next.native_handle(); }
    static bool readable(auto&) noexcept { return false; }
    static bool ended(auto&) noexcept { return false; }

    channel channel_;
    adaptive_turn<limits::plaintext_record_max, limits::turn_max> turn_{limits::turn_min};
    bool drained_ = false; // Nothing can be read before the next readable event.
    bool close_sealed_ = false;
};

} // namespace cleat::net
