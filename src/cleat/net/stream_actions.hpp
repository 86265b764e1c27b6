// stream_actions: what a stream's four operations do between two waits.

#pragma once

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/tls/context_spec.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

namespace cleat::net {

/// without_effect, with_known_effect are kinds of cancellation: terminal, the stream cannot be used
/// any more; partial, the caller knows what was done and the stream goes on from there; total,
/// nothing was done.
inline constexpr boost::asio::cancellation_type without_effect =
    boost::asio::cancellation_type::terminal | boost::asio::cancellation_type::partial |
    boost::asio::cancellation_type::total;
inline constexpr boost::asio::cancellation_type with_known_effect =
    boost::asio::cancellation_type::terminal | boost::asio::cancellation_type::partial;

/// handshake_action: a handshake that was cancelled goes on when it is started again.
struct handshake_action
{
    /// The role that the caller wants.
    tls::role role;

    /// See engine_op.
    static boost::asio::cancellation_type cancellable() noexcept { return with_known_effect; }

    /// See engine_op.
    progress attempt(auto& core, auto& next) noexcept
    {
        if (role != core.role)
            return {.error = error::wrong_role};
        core.begun = true;
        progress p = core.layer.handshake(next);
        if (p.error && role == tls::role::client)
            p.error = tls::name_fault(p.error, core.layer.engine().failure());
        // Only a server whose certificates are in a store has such a context: it provides the
        // certificate, and starts the handshake again.
        return p.next == wait::certificate ? progress{.error = boost::asio::error::try_again} : p;
    }

    /// See engine_op.
    static void complete(auto& self, error_code ec) { self.complete(ec); }
};

/// buffered_handshake_action: a handshake whose first bytes the caller has read already. All of
/// them are taken before the handshake begins; bytes after the handshake's are for the reads that
/// follow.
template <class Buffers>
struct buffered_handshake_action
{
    /// The handshake; the bytes that were read before it, how many of them were taken, and whether.
    handshake_action handshake;
    Buffers buffers;
    std::size_t bytes = 0;
    bool fed = false;

    /// See engine_op.
    static boost::asio::cancellation_type cancellable() noexcept { return with_known_effect; }

    /// See engine_op.
    progress attempt(auto& core, auto& next) noexcept
    {
        if (handshake.role != core.role)
            return {.error = error::wrong_role};
        if (!std::exchange(fed, true) && !feed(core))
            return {.error = boost::asio::error::no_buffer_space};
        return handshake.attempt(core, next);
    }

    /// feed gives all buffers to the layer. False: it does not take them.
    bool feed(auto& core) noexcept
    {
        auto const last = boost::asio::buffer_sequence_end(buffers);
        for (auto i = boost::asio::buffer_sequence_begin(buffers); i != last; ++i) {
            boost::asio::const_buffer const b{*i};
            if (!core.layer.feed({static_cast<std::byte const*>(b.data()), b.size()}))
                return false;
            bytes += b.size();
        }
        return true;
    }

    /// See engine_op.
    void complete(auto& self, error_code ec) { self.complete(ec, bytes); }
};

/// read_action fills the caller's buffers, one after another, with the plaintext of one turn.
template <class Buffers>
struct read_action
{
    /// The caller's buffers, and how many bytes of plaintext are in them.
    Buffers buffers;
    std::size_t bytes = 0;

    /// See engine_op. A read that has given bytes completes before it can be cancelled, so none are
    /// lost.
    static boost::asio::cancellation_type cancellable() noexcept { return without_effect; }

    /// See engine_op.
    progress attempt(auto& core, auto& next) noexcept
    {
        if (boost::asio::buffer_size(buffers) == 0)
            return {};
        if (core.read_error)
            return {.error = core.read_error};
        if (!core.layer.engine().established())
            return {.error = error::no_handshake};
        auto const last = boost::asio::buffer_sequence_end(buffers);
        for (auto i = boost::asio::buffer_sequence_begin(buffers); i != last; ++i) {
            boost::asio::mutable_buffer const b{*i};
            progress const p = fill(core, next, {static_cast<std::byte*>(b.data()), b.size()});
            bytes += p.bytes;
            if (p.error)
                core.read_error = p.error == error::closed ? boost::asio::error::eof : p.error;
            if (bytes == 0 && (p.error || p.next != wait::none))
                return {.next = p.next, .error = core.read_error};
            if (p.bytes < b.size())
                return {};
        }
        return {};
    }

    /// fill reads into one block until there is plaintext in it, or a reason to wait or to end.
    static progress fill(auto& core, auto& next, std::span<std::byte> block) noexcept
    {
        progress p;
        // Records without data, such as a session ticket, finish a call and give nothing.
        while (!block.empty() && p.bytes == 0 && !p.error && p.next == wait::none)
            p = core.layer.read(next, block);
        return p;
    }

    /// See engine_op.
    void complete(auto& self, error_code ec) { self.complete(ec, bytes); }
};

/// write_action seals as many of the caller's bytes as a turn takes, then waits until all of them
/// are sent.
template <class Buffers>
struct write_action
{
    /// The caller's buffers, and how many bytes of them were taken.
    Buffers buffers;
    std::size_t bytes = 0;

    /// See engine_op.
    [[nodiscard]] boost::asio::cancellation_type cancellable() const noexcept
    {
        return bytes == 0 ? without_effect : with_known_effect;
    }

    /// See engine_op.
    progress attempt(auto& core, auto& next) noexcept
    {
        if (bytes != 0)
            return core.layer.flush(next);
        if (boost::asio::buffer_size(buffers) == 0)
            return {};
        if (!core.layer.engine().established())
            return {.error = error::no_handshake};
        auto const begin = boost::asio::buffer_sequence_begin(buffers);
        bool const single = std::next(begin) == boost::asio::buffer_sequence_end(buffers);
        progress const p = single ? write_pieces<1>(core, next)
                                  : write_pieces<limits::pending_writes_max>(core, next);
        bytes = p.bytes;
        if (bytes == 0 && p.next == wait::none && !p.error)
            return {.error = error::library}; // It had room for a record and took no byte.
        return p;
    }

    /// write_pieces writes the first N buffers, as far as a turn takes them.
    template <std::size_t N>
    progress write_pieces(auto& core, auto& next) noexcept
    {
        std::array<channel::piece, N> pieces;
        std::size_t count = 0;
        std::size_t room = core.layer.turn();
        auto const last = boost::asio::buffer_sequence_end(buffers);
        for (auto i = boost::asio::buffer_sequence_begin(buffers); i != last; ++i) {
            boost::asio::const_buffer const b{*i};
            if (b.size() == 0)
                continue;
            std::size_t const size = std::min(b.size(), room);
            pieces[count++] = {static_cast<std::byte const*>(b.data()), size};
            room -= size;
            if (room == 0 || count == N)
                break;
        }
        return core.layer.write(next, std::span{pieces}.first(count));
    }

    /// See engine_op. Bytes that were taken are sealed, in order, and leave even if this wait is
    /// cancelled: they count.
    void complete(auto& self, error_code ec) { self.complete(ec, bytes); }
};

/// shutdown_action sends close_notify and discards plaintext until the peer's close_notify (RFC
/// 8446, section 6.1).
struct shutdown_action
{
    /// Whether close_notify is sealed, and how many bytes of plaintext were discarded after it.
    bool sent = false;
    std::size_t discarded = 0;

    /// See engine_op.
    static boost::asio::cancellation_type cancellable() noexcept { return with_known_effect; }

    /// See engine_op.
    progress attempt(auto& core, auto& next) noexcept
    {
        if (!core.layer.engine().established())
            return {.error = error::no_handshake};
        if (!sent) {
            if (progress const p = core.layer.close(next); p.error || p.next != wait::none)
                return p;
            sent = true;
        }
        if (core.read_error)
            return {.error = end_of(core.read_error)};
        while (discarded <= limits::turn_max) {
            progress const p = core.layer.read(
                next, scratch::of_this_thread().plaintext().first(limits::turn_min));
            discarded += p.bytes;
            if (p.error)
                core.read_error = p.error == error::closed ? boost::asio::error::eof : p.error;
            if (p.error || p.next != wait::none)
                return {.next = p.next, .error = end_of(core.read_error)};
        }
        return {.error = boost::asio::error::message_size};
    }

    /// end_of is a shutdown's result for the end of its reads: close_notify is no error.
    static error_code end_of(error_code ec) noexcept
    {
        return ec == boost::asio::error::eof ? error_code{} : ec;
    }

    /// See engine_op.
    static void complete(auto& self, error_code ec) { self.complete(ec); }
};

} // namespace cleat::net
