// any_layer: TLS over an asynchronous stream that is not a socket: beast::tcp_stream, another TLS
// stream.

#pragma once

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace cleat::net {

/// any_layer joins an engine with a next layer whose asynchronous reads and writes need memory
/// until they complete: a block for each pending read, and the records of a pending write. Without
/// a pending operation any_layer holds neither.
///
/// Its calls never block. Their progress says what they wait for: `readable` is a read of the next
/// layer, `writable` is a write of all records that wait to be sent.
class any_layer
{
public:
    /// waiting is an operation's state while it waits: a block to read into, allocated by its first
    /// read.
    struct waiting
    {
        /// Null before the first read.
        std::unique_ptr<std::byte[]> block;
    };

    /// any_layer with an engine of this context, which outlives it. Throws std::bad_alloc.
    explicit any_layer(tls::context const& context);

    /// handshake, read, write, flush and close do what those of channel do, with bytes that the
    /// next layer has read, or will write.
    progress handshake() noexcept;
    progress read(std::span<std::byte> plaintext) noexcept;
    progress write(std::span<channel::piece const> pieces) noexcept;
    progress flush() noexcept;
    progress close() noexcept;

    /// feed: see channel::feed.
    [[nodiscard]] bool feed(std::span<std::byte const> read_before) noexcept
    {
        return read_before.empty() || in_.append(read_before, limits::unsent_max);
    }

    /// The same calls, with the parameters of those of socket_layer.
    progress handshake(auto&) noexcept { return handshake(); }
    progress read(auto&, std::span<std::byte> plaintext) noexcept { return read(plaintext); }
    progress write(auto&, std::span<channel::piece const> pieces) noexcept { return write(pieces); }
    progress flush(auto&) noexcept { return flush(); }
    progress close(auto&) noexcept { return close(); }

    /// unsent_after_failure: a call that failed has left an alert to be sent to the peer.
    [[nodiscard]] bool unsent_after_failure() const noexcept { return alert_ && unsent(); }

    /// turn is the most plaintext that one write takes.
    [[nodiscard]] static constexpr std::size_t turn() noexcept { return limits::turn_min; }

    /// start_wait begins the read or the write of `next` that the event stands for, with this
    /// handler.
    template <class Next, class Handler>
    void start_wait(Next& next, wait event, waiting& w, Handler&& handler)
    {
        if (event == wait::readable)
            next.async_read_some(block_of(w), std::forward<Handler>(handler));
        else
            next.async_write_some(to_send(), std::forward<Handler>(handler));
    }

    /// end_wait takes the result of a read or write of the next layer. Bytes read stay in w's
    /// block, for the call that follows. `stops`: the operation was cancelled, so bytes that it
    /// read are copied, and the next operation gets them. EOF from the next layer is no error here:
    /// TLS reports its own end.
    error_code end_wait(
        wait event, waiting& w, error_code ec, std::size_t bytes, bool stops) noexcept;

    /// block is start_wait and end_wait in one, and blocks the thread meanwhile.
    template <class Next>
    error_code block(Next& next, wait event, waiting& w)
    {
        error_code ec;
        std::size_t const bytes = event == wait::readable ? next.read_some(block_of(w), ec)
                                                          : next.write_some(to_send(), ec);
        return end_wait(event, w, ec, bytes, false);
    }

    /// engine is the TLS state.
    [[nodiscard]] tls::engine& engine() noexcept { return engine_; }
    [[nodiscard]] tls::engine const& engine() const noexcept { return engine_; }

private:
    boost::asio::mutable_buffer block_of(waiting& w);
    boost::asio::const_buffer to_send() noexcept;
    [[nodiscard]] bool unsent() const noexcept { return !sending_.empty() || !out_.empty(); }
    [[nodiscard]] std::span<std::byte const> input() const noexcept;
    [[nodiscard]] error_code send_tickets() noexcept;
    [[nodiscard]] error_code keep(tls::step const& s, tls::wire const& w) noexcept;

    tls::engine engine_;
    byte_queue in_;      // Ciphertext received before TLS asked for it.
    byte_queue out_;     // Records to send.
    byte_queue sending_; // Records that the next layer is writing: they must not move.
    std::span<std::byte const> arrived_; // In the block of the operation that makes the next call.
    bool in_ended_ = false;
    bool wants_input_;
    bool close_sealed_ = false;
    bool alert_ = false;
};

} // namespace cleat::net
