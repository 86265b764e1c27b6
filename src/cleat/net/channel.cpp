// Each call of the engine gets one contiguous span of ciphertext: the bytes queued in in_, or else
// the bytes that one recv has just put into the thread's scratch block. Bytes that the engine does
// not read go to in_, which is nearly always empty: a TLS library keeps a partial record in its own
// buffer.
//
// A short count from recv or send means that the socket is drained or full. Another call, only to
// get EAGAIN, would be a system call for each wake-up.

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/plaintext_peer.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace cleat::net {
namespace {

std::span<std::byte const> produced(std::span<std::byte> block, tls::wire const& w) noexcept
{
    return block.first(block.size() - w.out.size());
}

// The system calls. Each tells the socket's readiness entry, if there is one, whether the socket is
// now drained or full.
ssize_t receive_from(transport const& socket, std::span<std::byte> buffer) noexcept
{
    ssize_t n = 0;
    do
        n = ::recv(socket.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (socket.events != nullptr)
        socket.events->received(n >= 0 && static_cast<std::size_t>(n) == buffer.size());
    return n;
}

ssize_t send_to(transport const& socket, std::span<std::byte const> bytes) noexcept
{
    ssize_t n = 0;
    do
        n = ::send(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (socket.events != nullptr)
        socket.events->sent(n >= 0 && static_cast<std::size_t>(n) == bytes.size());
    return n;
}

} // namespace

/// received is the outcome of channel::receive: ciphertext, the end, nothing yet, or an error.
struct channel::received
{
    std::span<std::byte const> bytes;
    bool from_queue = false;
    bool drained = false; ///< The socket has no more for now.
    error_code error;
};

channel::channel(tls::context const& context)
    : engine_{context}
    , is_server_{context.role() == tls::role::server}
    , wants_input_{is_server_}
    , silent_{!is_server_}
{
}

channel::received channel::receive(transport socket, std::size_t size, bool ended) noexcept
{
    received got;
    if (!in_.empty()) {
        got.bytes = in_.front();
        got.from_queue = true;
        got.drained = drained_;
        return got;
    }
    if (in_ended_)
        return got;
    std::span<std::byte> const block = scratch::of_this_thread().received();
    size = std::min(size, block.size());
    ssize_t const n = receive_from(socket, block.first(size));
    if (n < 0) {
        got.drained = drained_ = true;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            got.error = last_system_error();
        return got;
    }
    got.bytes = block.first(static_cast<std::size_t>(n));
    got.drained = drained_ = got.bytes.size() < size;
    in_ended_ = n == 0 || (ended && got.drained);
    return got;
}

bool channel::keep_unread(received const& got, std::span<std::byte const> rest) noexcept
{
    if (got.from_queue) {
        in_.consume(in_.size() - rest.size());
        return true;
    }
    return rest.empty() || in_.append(rest, limits::unsent_max);
}

std::size_t channel::take_held(std::span<std::byte> block) noexcept
{
    std::span<std::byte const> const held = out_.front();
    if (!held.empty())
        std::memcpy(block.data(), held.data(), held.size());
    std::size_t const size = held.size();
    out_.clear();
    return size;
}

error_code channel::hold(std::span<std::byte const> sealed) noexcept
{
    if (sealed.empty() || out_.append(sealed, limits::unsent_max))
        return {};
    return make_error_code(boost::system::errc::no_buffer_space);
}

error_code channel::deliver(transport socket, std::span<std::byte const> sealed) noexcept
{
    if (sealed.empty())
        return {};
    if (!out_.empty()) {
        if (error_code const ec = hold(sealed))
            return ec;
        return blocked_ ? error_code{} : flush(socket).error;
    }
    ssize_t const n = send_to(socket, sealed);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        return last_system_error();
    std::size_t const sent = n < 0 ? 0 : static_cast<std::size_t>(n);
    blocked_ = sent < sealed.size();
    return hold(sealed.subspan(sent));
}

progress channel::flush(transport socket) noexcept
{
    blocked_ = false;
    while (!out_.empty() && !blocked_) {
        std::span<std::byte const> const front = out_.front();
        ssize_t const n = send_to(socket, front);
        if (n >= 0) {
            blocked_ = static_cast<std::size_t>(n) < front.size();
            out_.consume(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            blocked_ = true;
        } else {
            return {.error = last_system_error()};
        }
    }
    return {.next = blocked_ ? wait::writable : wait::none};
}

void channel::flush_held(transport socket) noexcept
{
    if (!holds_records())
        return;
    if (!out_.empty())
        static_cast<void>(flush(socket));
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    tls::wire w{{}, block, false};
    static_cast<void>(engine_.send_tickets(w));
    // A broken socket is found by the next read. Without memory for bytes that the socket did not
    // take, the stream has a gap, and the client ends it.
    static_cast<void>(deliver(socket, produced(block, w)));
    blocked_ = false; // No operation waits for these bytes.
}

// Waits for the next part of the peer's flight. A client with Nagle's algorithm on holds it until
// the part before is acknowledged: Java's does, which writes its ChangeCipherSpec by itself. We
// have nothing to send that would carry the acknowledgment, and the kernel delays its own by 40 ms.
progress channel::wait_for_flight(transport socket, bool is_part) const noexcept
{
    if (is_part && is_server_)
        acknowledge_now(socket.fd);
    return {.next = wait::readable};
}

progress channel::handshake(transport socket, bool ended, last_flight departure) noexcept
{
    if (blocked_)
        if (progress const p = flush(socket); p.error || p.next != wait::none)
            return p;
    bool drained = std::exchange(silent_, false);
    bool is_part = false;
    for (;;) {
        if (wants_input_ && drained && !in_ended_)
            return wait_for_flight(socket, is_part);
        received got;
        if (wants_input_) {
            got = receive(socket, limits::turn_min, ended);
            if (got.error)
                return {.error = got.error};
            drained = got.drained;
            if (got.bytes.empty() && !in_ended_)
                return wait_for_flight(socket, is_part);
        }
        std::span<std::byte> const block = scratch::of_this_thread().sealed();
        tls::wire w{got.bytes, block, in_ended_};
        tls::step const s = engine_.handshake(w);
        wants_input_ = s.next == tls::want::input;
        is_part = wants_input_ && !got.bytes.empty() && produced(block, w).empty();
        if (!keep_unread(got, w.in))
            return {.error = make_error_code(boost::system::errc::no_buffer_space)};

        bool const done = s.next == tls::want::nothing && !s.error;
        bool const waits =
            engine_.ends_with_tickets() || departure == last_flight::with_first_write;
        error_code const ec =
            done && waits ? hold(produced(block, w)) : deliver(socket, produced(block, w));
        if (s.error == error::not_tls && tls::begins_like_http(got.bytes))
            return {.error = error::http_request};
        if (s.error || ec)
            return {.error = s.error ? s.error : ec};
        if (blocked_)
            return {.next = wait::writable};
        if (done)
            return {};
        if (s.next == tls::want::certificate)
            return {.next = wait::certificate};
        if (s.next == tls::want::session)
            return {.next = wait::session};
    }
}

bool channel::feed(std::span<std::byte const> read_before) noexcept
{
    if (read_before.empty())
        return true;
    silent_ = false; // Bytes have come before this client sent any.
    return in_.append(read_before, limits::unsent_max);
}

void channel::feed(byte_queue&& read_before) noexcept
{
    if (read_before.empty())
        return;
    silent_ = false;
    drained_ = true;
    in_ = std::move(read_before);
}

progress channel::write_early(transport socket, std::span<piece const> pieces) noexcept
{
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    tls::wire w{{}, block, false};
    tls::step const s = engine_.write_early(w, pieces);
    error_code const ec = deliver(socket, produced(block, w));
    return {
        .next = blocked_ ? wait::writable : wait::none,
        .bytes = s.bytes,
        .error = s.error ? s.error : ec};
}

progress channel::read(
    transport socket, std::span<std::byte> plaintext, std::size_t turn, bool ended) noexcept
{
    received got;
    // Queued bytes go to the engine even where it does not need them yet. If FIN follows them, the
    // engine would take an empty wire for the end.
    if (!in_.empty() || !engine_.has_plaintext()) {
        got = receive(socket, turn, ended);
        if (got.error)
            return {.error = got.error};
        if (got.bytes.empty() && !in_ended_)
            return {.next = wait::readable};
    }
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    tls::wire w{got.bytes, block, in_ended_};
    tls::step const s = engine_.read(w, plaintext);
    progress p{
        .bytes = s.bytes, .on_wire = got.from_queue ? 0 : got.bytes.size(), .error = s.error};
    if (!keep_unread(got, w.in))
        p.error = make_error_code(boost::system::errc::no_buffer_space);
    // The output is an answer to a KeyUpdate, or an alert. An error in sending it is found by the
    // next read. Without memory to keep it the stream has a gap.
    if (deliver(socket, produced(block, w)) == boost::system::errc::no_buffer_space && !p.error)
        p.error = make_error_code(boost::system::errc::no_buffer_space);
    if (!p.error && got.drained && s.next == tls::want::input && !in_ended_)
        p.next = wait::readable;
    return p;
}

progress channel::write(
    transport socket, std::span<piece const> pieces, after_write addition) noexcept
{
    bool const was_blocked = blocked_;
    if (was_blocked || out_.size() > limits::joined_max)
        if (progress const p = flush(socket); p.error || (was_blocked && blocked_))
            return p;
    // Seal no more than out_ may hold, in case the socket takes none of it.
    std::span<std::byte> const whole = scratch::of_this_thread().sealed();
    std::span<std::byte> const block =
        whole.first(std::min(whole.size(), limits::unsent_max - out_.size()));
    // A ticket that the socket did not take does not make the caller wait: the new bytes are queued
    // after it.
    std::size_t const joined = blocked_ ? 0 : take_held(block);
    tls::wire w{{}, block.subspan(joined), false};
    tls::step s = engine_.write(w, pieces);
    if (addition != after_write::nothing && s.next == tls::want::nothing && !s.error)
        s.error = addition == after_write::close_notify
                      ? engine_.close(w).error
                      : engine_.fail(w, static_cast<tls::fatal_alert>(addition)).error;
    error_code const ec = deliver(socket, produced(block, w));
    return {
        .next = blocked_ ? wait::writable : wait::none,
        .bytes = s.bytes,
        .error = s.error ? s.error : ec};
}

std::size_t channel::write_max() const noexcept
{
    if (engine_.fragment_max() == limits::plaintext_record_max)
        return limits::turn_max; // The scratch block and unsent_max have room for it.
    return std::min(
        limits::turn_max, engine_.write_capacity(limits::unsent_max - limits::joined_max));
}

progress channel::close(transport socket) noexcept
{
    return write(socket, {}, after_write::close_notify);
}

progress channel::fail(transport socket, tls::fatal_alert alert) noexcept
{
    return write(socket, {}, static_cast<after_write>(alert));
}

} // namespace cleat::net
