// A call into the engine sees one contiguous run of ciphertext: what waits in in_, or else what one
// recv has just put into the thread's scratch block. What the engine leaves of it goes to in_,
// which is empty nearly always: a TLS library takes a partial record into a buffer of its own.
//
// A short count from recv or send is an answer too: the socket is drained or full. Asking once more
// to hear EAGAIN would be a system call for each wake-up.

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/first_bytes.hpp>

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

// The system calls, each of which leaves word of what it found with who remembers events.
ssize_t receive_from(transport const& at, std::span<std::byte> into) noexcept
{
    ssize_t n = 0;
    do
        n = ::recv(at.fd, into.data(), into.size(), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (at.events != nullptr)
        at.events->received(n >= 0 && static_cast<std::size_t>(n) == into.size());
    return n;
}

ssize_t send_to(transport const& at, std::span<std::byte const> from) noexcept
{
    ssize_t n = 0;
    do
        n = ::send(at.fd, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (at.events != nullptr)
        at.events->sent(n >= 0 && static_cast<std::size_t>(n) == from.size());
    return n;
}

} // namespace

/// received is the outcome of asking for ciphertext: a run of it, the end, nothing yet, or an
/// error.
struct channel::received
{
    std::span<std::byte const> bytes;
    bool from_queue = false;
    bool drained = false; ///< The socket has no more for now.
    error_code error;
};

channel::channel(tls::context const& use)
    : engine_{use}
    , is_server_{use.role() == tls::role::server}
    , wants_input_{is_server_}
    , silent_{!is_server_}
{
}

channel::received channel::receive(transport at, std::size_t size, bool ended) noexcept
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
    ssize_t const n = receive_from(at, block.first(size));
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

error_code channel::deliver(transport at, std::span<std::byte const> sealed) noexcept
{
    if (sealed.empty())
        return {};
    if (!out_.empty()) {
        if (error_code const ec = hold(sealed))
            return ec;
        return blocked_ ? error_code{} : flush(at).error;
    }
    ssize_t const n = send_to(at, sealed);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        return last_system_error();
    std::size_t const sent = n < 0 ? 0 : static_cast<std::size_t>(n);
    blocked_ = sent < sealed.size();
    return hold(sealed.subspan(sent));
}

progress channel::flush(transport at) noexcept
{
    blocked_ = false;
    while (!out_.empty() && !blocked_) {
        std::span<std::byte const> const front = out_.front();
        ssize_t const n = send_to(at, front);
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

void channel::flush_held(transport at) noexcept
{
    if (!holds_records())
        return;
    if (!out_.empty())
        static_cast<void>(flush(at));
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    tls::wire w{{}, block, false};
    static_cast<void>(engine_.send_tickets(w));
    // A broken socket is found by reading. With no memory for what it did not take the stream has a
    // gap, and the client ends it.
    static_cast<void>(deliver(at, produced(block, w)));
    blocked_ = false; // No operation waits for these bytes.
}

// The next part of the peer's flight is to come. A client with Nagle's algorithm on keeps it back
// until the part before is acknowledged: Java's, which writes its ChangeCipherSpec by itself.
// Nothing that we would say now carries that acknowledgment, and the kernel's own comes after 40
// ms.
progress channel::more_of_flight(transport at, bool is_part) const noexcept
{
    if (is_part && is_server_)
        acknowledge_now(at.fd);
    return {.next = wait::readable};
}

progress channel::handshake(transport at, bool ended, last_flight leaves) noexcept
{
    if (blocked_)
        if (progress const p = flush(at); p.error || p.next != wait::none)
            return p;
    bool drained = std::exchange(silent_, false);
    bool is_part = false;
    for (;;) {
        if (wants_input_ && drained && !in_ended_)
            return more_of_flight(at, is_part);
        received got;
        if (wants_input_) {
            got = receive(at, limits::turn_min, ended);
            if (got.error)
                return {.error = got.error};
            drained = got.drained;
            if (got.bytes.empty() && !in_ended_)
                return more_of_flight(at, is_part);
        }
        std::span<std::byte> const block = scratch::of_this_thread().sealed();
        tls::wire w{got.bytes, block, in_ended_};
        tls::step const s = engine_.handshake(w);
        wants_input_ = s.next == tls::want::input;
        is_part = wants_input_ && !got.bytes.empty() && produced(block, w).empty();
        if (!keep_unread(got, w.in))
            return {.error = make_error_code(boost::system::errc::no_buffer_space)};

        bool const done = s.next == tls::want::nothing && !s.error;
        bool const waits = engine_.ends_with_tickets() || leaves == last_flight::with_first_write;
        error_code const ec =
            done && waits ? hold(produced(block, w)) : deliver(at, produced(block, w));
        if (s.error == error::not_tls && tls::begins_like_http(got.bytes))
            return {.error = error::http_request};
        if (s.error || ec)
            return {.error = s.error ? s.error : ec};
        if (blocked_)
            return {.next = wait::writable};
        if (done)
            return {};
    }
}

bool channel::feed(std::span<std::byte const> read_before) noexcept
{
    if (read_before.empty())
        return true;
    silent_ = false; // Something has come after all.
    return in_.append(read_before, limits::unsent_max);
}

progress channel::write_early(transport at, std::span<piece const> pieces) noexcept
{
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    tls::wire w{{}, block, false};
    tls::step const s = engine_.write_early(w, pieces);
    error_code const ec = deliver(at, produced(block, w));
    return {
        .next = blocked_ ? wait::writable : wait::none,
        .bytes = s.bytes,
        .error = s.error ? s.error : ec};
}

progress channel::read(
    transport at, std::span<std::byte> plaintext, std::size_t turn, bool ended) noexcept
{
    received got;
    // What is in the queue goes along even where it is not needed yet: with FIN behind it, TLS
    // would take an empty wire for the end.
    if (!in_.empty() || !engine_.has_plaintext()) {
        got = receive(at, turn, ended);
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
    // An answer to a KeyUpdate, or the alert of a failure: an error in sending it is found by
    // reading. One that cannot be kept leaves a gap in the stream.
    if (deliver(at, produced(block, w)) == boost::system::errc::no_buffer_space && !p.error)
        p.error = make_error_code(boost::system::errc::no_buffer_space);
    if (!p.error && got.drained && s.next == tls::want::input && !in_ended_)
        p.next = wait::readable;
    return p;
}

progress channel::write(transport at, std::span<piece const> pieces, after_write then) noexcept
{
    bool const was_blocked = blocked_;
    if (was_blocked || out_.size() > limits::joined_max)
        if (progress const p = flush(at); p.error || (was_blocked && blocked_))
            return p;
    // No more than can be kept here, should the socket take none of it.
    std::span<std::byte> const whole = scratch::of_this_thread().sealed();
    std::span<std::byte> const block =
        whole.first(std::min(whole.size(), limits::unsent_max - out_.size()));
    // A ticket that the caller knows nothing of does not keep its bytes waiting: they queue behind
    // it.
    std::size_t const joined = blocked_ ? 0 : take_held(block);
    tls::wire w{{}, block.subspan(joined), false};
    tls::step s = engine_.write(w, pieces);
    if (then == after_write::close_notify && s.next == tls::want::nothing && !s.error)
        s.error = engine_.close(w).error;
    error_code const ec = deliver(at, produced(block, w));
    return {
        .next = blocked_ ? wait::writable : wait::none,
        .bytes = s.bytes,
        .error = s.error ? s.error : ec};
}

std::size_t channel::write_max() const noexcept
{
    if (engine_.fragment_max() == limits::plaintext_record_max)
        return limits::turn_max; // A block and unsent_max are made for that.
    return std::min(
        limits::turn_max, engine_.write_capacity(limits::unsent_max - limits::joined_max));
}

progress channel::close(transport at) noexcept
{
    return write(at, {}, after_write::close_notify);
}

} // namespace cleat::net
