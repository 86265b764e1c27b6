#include "relay/relay_turns.hpp"
#include "relay/upstream_side.hpp"
#include "upstream_tls/tls_upstream.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket_options.hpp>

#include <algorithm>

namespace cleat::app {
namespace {

// The kernel reports a socket's error once, and an earlier call may have taken it: a reset then.
error_code error_or_reset(error_code reported) noexcept
{
    return reported ? reported : make_error_code(boost::system::errc::connection_reset);
}

} // namespace

template <class Upstream>
relay_turns<Upstream>::relay_turns(
    client_end client, Upstream& upstream, relay_deadlines deadlines, byte_counts& traffic) noexcept
    : client_{client}, upstream_{upstream}, traffic_{traffic}, fsm_{deadlines}
{
    // No event comes for bytes that the handshake left in the channel.
    if (client_.has_more())
        client_.socket().entry().more_to_read();
    if constexpr (Upstream::is_tls) {
        if (upstream_.has_more())
            upstream_.socket.entry().more_to_read();
        if (client_.ends_with_fin())
            fsm_.reset_cut_answers();
    }
    if (upstream_.has_unsent())
        fsm_.on_sink_full(direction::up);
    if (client_.unsent())
        fsm_.on_sink_full(direction::down);
}

template <class Upstream>
void relay_turns<Upstream>::take() noexcept
{
    fsm_.on_turn();
    if (fsm_.flushes(direction::up) && upstream_.socket.entry().writable())
        flush_up();
    if (fsm_.flushes(direction::down) && client_.socket().entry().writable())
        flush_down();
    if (fsm_.reads(direction::down) && upstream_.socket.entry().readable())
        move_down();
    if (fsm_.reads(direction::up) && client_.socket().entry().readable())
        move_up();
    if (fsm_.passes_end(direction::up))
        pass_end_up();
    if (fsm_.passes_end(direction::down))
        pass_end_down();
    notice_breaks();
}

template <class Upstream>
std::optional<std::chrono::milliseconds> relay_turns<Upstream>::begin_wait() noexcept
{
    if (fsm_.sends_fin()) {
        client_.socket().shutdown_send();
        fsm_.on_fin_sent();
    }
    return fsm_.on_wait();
}

template <class Upstream>
net::interest relay_turns<Upstream>::client_interest() const noexcept
{
    return {
        &client_.socket().entry(), fsm_.reads(direction::up), fsm_.flushes(direction::down),
        !fsm_.is_broken(side::client)};
}

template <class Upstream>
net::interest relay_turns<Upstream>::upstream_interest() const noexcept
{
    return {
        &upstream_.socket.entry(), fsm_.reads(direction::down), fsm_.flushes(direction::up),
        !fsm_.is_broken(side::upstream)};
}

template <class Upstream>
void relay_turns<Upstream>::on_interrupted(error_code why) noexcept
{
    if (why != error::idle_timeout)
        return fsm_.on_stop(reason_for(phase::relay_wait, why));
    if (fsm_.delivers_after_break())
        error_ = error_or_reset({});
    fsm_.on_timeout(fsm_.asks_unacknowledged() ? client_.socket().unacknowledged() : 0);
}

template <class Upstream>
void relay_turns<Upstream>::move_up() noexcept
{
    if constexpr (!Upstream::is_tls)
        if (splices(direction::up))
            return splice_up();
    net::readiness::entry& source = client_.socket().entry();
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    // A record has to fit.
    std::size_t const turn =
        std::min(fsm_.turn(direction::up), std::max(turn_max(), limits::record_max));
    net::progress const p = client_.read(block, turn, source.ended());
    if (p.next == net::wait::none && !p.error)
        source.more_to_read();
    fsm_.on_moved(direction::up, p.on_wire);
    client_.stop_ticket();
    if (p.bytes != 0)
        send_up(block.first(p.bytes));
    if (fsm_.over())
        return;
    // The engine may have answered the client (KeyUpdate, RFC 8446, section 4.6.3) and found
    // its socket full.
    if (client_.unsent() && !fsm_.flushes(direction::down))
        fsm_.on_sink_full(direction::down);
    if (p.error == error::closed)
        fsm_.on_end(direction::up, ending::clean);
    else if (p.error == error::truncated)
        fsm_.on_end(direction::up, ending::truncated);
    else if (p.error)
        fail_client(p.error);
}

template <class Upstream>
void relay_turns<Upstream>::send_up(std::span<std::byte const> bytes) noexcept
{
    if (fsm_.drops_upload())
        return;
    traffic_.add_up(bytes.size());
    error_code ec;
    if (upstream_.send(bytes, ec))
        fsm_.on_sink_full(direction::up);
    if (ec)
        fail_sending_up(ec);
}

template <class Upstream>
void relay_turns<Upstream>::fail_sending_up(error_code why) noexcept
{
    if (!is_out_of_resources(why))
        return drop_upload(why);
    error_ = why;
    fsm_.on_upload_lost();
}

template <class Upstream>
void relay_turns<Upstream>::drop_upload(error_code why) noexcept
{
    upstream_.drop_unsent();
    // EPIPE: reading will show how the upstream ended, by its FIN or by the socket's error. The
    // kernel reports any other error once, here, and then shows an end like a FIN's.
    bool const readable = why == boost::system::errc::broken_pipe;
    fsm_.drop_upload(readable ? answer_end::readable : answer_end::lost);
}

template <class Upstream>
void relay_turns<Upstream>::move_down() noexcept
{
    if constexpr (!Upstream::is_tls)
        if (splices(direction::down))
            return splice_down();
    net::readiness::entry& source = upstream_.socket.entry();
    std::size_t const turn =
        std::min({fsm_.turn(direction::down), client_.write_max(), turn_max()});
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext().first(turn);
    bool const ended = source.ended();
    if constexpr (Upstream::is_tls) {
        take_answer(block, upstream_.read(block, std::max(turn, limits::record_max), ended));
    } else {
        net::io_result const r = upstream_.socket.receive(block);
        if (r.would_block)
            return;
        if (r.error == error::closed && fsm_.finds_answer_end())
            return fsm_.on_end(direction::down, ending::clean);
        if (r.error)
            return fail_upstream(r.error);
        // A short read of an upstream whose FIN has come was the last: the answer and the
        // close_notify can then leave together.
        bool const last = ended && r.bytes < turn && fsm_.finds_answer_end();
        // After the event that reports the FIN no other event comes for the remaining bytes.
        if (!last && (ended || r.bytes == turn))
            source.more_to_read();
        traffic_.add_down(r.bytes);
        write_down(block.first(r.bytes), last, r.bytes);
    }
}

// A read from a TLS upstream gives bytes, and perhaps an end behind them. Only a
// close_notify is a clean end. A FIN without one is passed on as the break that it may be.
template <class Upstream>
void relay_turns<Upstream>::take_answer(
    std::span<std::byte const> block, net::progress const& read) noexcept
{
    if (read.next == net::wait::none && !read.error)
        upstream_.socket.entry().more_to_read();
    bool const last = read.error == error::closed;
    if (read.bytes != 0) {
        traffic_.add_down(read.bytes);
        write_down(block.first(read.bytes), last, read.on_wire);
    } else if (last) {
        fsm_.on_end(direction::down, ending::clean);
    }
    if (fsm_.over())
        return;
    // The engine may have answered the upstream (KeyUpdate) and found its socket full.
    if (upstream_.has_unsent() && !fsm_.flushes(direction::up) && !fsm_.drops_upload())
        fsm_.on_sink_full(direction::up);
    if constexpr (Upstream::is_tls)
        // The client's socket is full: the bytes before the break go first.
        if (read.error && !last && fsm_.flushes(direction::down)) {
            upstream_.fault = read.error;
            return upstream_.socket.entry().more_to_read();
        }
    if (read.error && !last)
        // After a send has failed, the kernel shows an end like a FIN's.
        fail_upstream(fsm_.finds_answer_end() ? read.error : error_or_reset({}));
}

template <class Upstream>
void relay_turns<Upstream>::write_down(
    std::span<std::byte const> bytes, bool last, std::size_t on_wire) noexcept
{
    client_.socket().entry().use_up_write();
    client_.stop_ticket();
    bool const is_short = turn_max() < limits::turn_min;
    if (std::exchange(is_unsent_bounded_, is_short) != is_short) // The kernel's buffers are memory.
        net::bound_unsent(client_.socket().native_handle(), is_short ? limits::turn_tight : 0);
    net::progress const p = client_.write(
        bytes, last ? net::channel::after_write::close_notify : net::channel::after_write::nothing);
    if (p.error)
        return fail_client(p.error);
    // write_max promises that all is taken, but OpenSSL writes nothing while it has half a
    // handshake message: a client must end a KeyUpdate that it began before it is answered.
    if (p.bytes != bytes.size())
        return fail_client(error::protocol_violation);
    on_written_down(p, on_wire, last);
}

template <class Upstream>
void relay_turns<Upstream>::on_written_down(
    net::progress const& written, std::size_t on_wire, bool last) noexcept
{
    fsm_.on_moved(direction::down, on_wire);
    if (written.next == net::wait::writable)
        fsm_.on_sink_full(direction::down);
    if (last)
        fsm_.on_end(direction::down, ending::clean);
}

// Where no pipe can be made the bytes are copied.
template <class Upstream>
bool relay_turns<Upstream>::splices(direction d) noexcept
{
    return client_.is_plain() && fsm_.splices(d) && turn_max() > limits::turn_min &&
           scratch_pipe::of_this_thread().open();
}

// The relays of the tests have no worker_connections.
template <class Upstream>
std::size_t relay_turns<Upstream>::turn_max() const noexcept
{
    return traffic_.published == nullptr ? limits::turn_max
                                         : traffic_.published->memory().turn_max();
}

// A pipe may be full before the socket is drained, so another turn follows each that has moved
// something.
template <class Upstream>
void relay_turns<Upstream>::splice_up() noexcept
{
    if constexpr (!Upstream::is_tls) {
        scratch_pipe& pipe = scratch_pipe::of_this_thread();
        net::io_result const r = pipe.receive(client_.socket(), fsm_.turn(direction::up));
        if (r.would_block)
            return;
        if (r.error == error::closed)
            return fsm_.on_end(direction::up, ending::clean);
        if (r.error)
            return fail_client(r.error);
        fsm_.on_moved(direction::up, r.bytes);
        traffic_.add_up(r.bytes);
        error_code ec;
        if (upstream_.splice(pipe, ec))
            fsm_.on_sink_full(direction::up);
        if (ec)
            fail_sending_up(ec);
    }
}

template <class Upstream>
void relay_turns<Upstream>::splice_down() noexcept
{
    scratch_pipe& pipe = scratch_pipe::of_this_thread();
    net::io_result const r = pipe.receive(upstream_.socket, fsm_.turn(direction::down));
    if (r.would_block)
        return;
    if (r.error == error::closed && fsm_.finds_answer_end())
        return fsm_.on_end(direction::down, ending::clean);
    if (r.error)
        return fail_upstream(r.error);
    traffic_.add_down(r.bytes);
    client_.socket().entry().use_up_write();
    net::progress const p = client_.splice(pipe);
    if (p.error)
        return fail_client(p.error);
    on_written_down(p, r.bytes, false);
}

template <class Upstream>
void relay_turns<Upstream>::flush_up() noexcept
{
    error_code ec;
    bool const full = upstream_.flush(ec);
    if (ec)
        return fail_sending_up(ec);
    if (!full)
        fsm_.on_flushed(direction::up);
}

template <class Upstream>
void relay_turns<Upstream>::flush_down() noexcept
{
    client_.socket().entry().use_up_write();
    net::progress const p = client_.flush();
    if (p.error)
        return fail_client(p.error);
    if (p.next == net::wait::none)
        fsm_.on_flushed(direction::down);
}

template <class Upstream>
void relay_turns<Upstream>::pass_end_up() noexcept
{
    if constexpr (Upstream::is_tls)
        if (!closes_send())
            return;
    fsm_.on_end_passed(direction::up);
    if (!fsm_.over()) // Closing sends the same FIN with one system call less.
        upstream_.socket.shutdown_send();
}

// A close_notify says that the upload is whole: none follows an upload that was cut, and the FIN
// says so. False: the close_notify has not left, or the relay is over.
template <class Upstream>
bool relay_turns<Upstream>::closes_send() noexcept
{
    if constexpr (Upstream::is_tls) {
        if (fsm_.drops_upload() || fsm_.upload_cut())
            return true;
        error_code ec;
        bool const full = upstream_.close_send(ec);
        if (ec)
            fail_sending_up(ec);
        else if (full)
            fsm_.on_sink_full(direction::up);
        return !full && !fsm_.over();
    }
    return true;
}

template <class Upstream>
void relay_turns<Upstream>::pass_end_down() noexcept
{
    client_.socket().entry().use_up_write();
    net::progress const p = client_.close();
    if (p.error)
        return fail_client(p.error);
    if (p.next == net::wait::writable)
        return fsm_.on_sink_full(direction::down);
    fsm_.on_end_passed(direction::down);
    if (!client_.ends_with_fin())
        return;
    if (!fsm_.over()) // As in pass_end_up.
        client_.socket().shutdown_send();
    fsm_.on_fin_sent();
}

// A side may break while it is neither read nor written.
template <class Upstream>
void relay_turns<Upstream>::notice_breaks() noexcept
{
    if (fsm_.watches(side::client) && client_.socket().entry().broken() &&
        fsm_.on_broken(side::client) == after_break::fail)
        return fail_client(error_or_reset(client_.socket().error()));
    if (fsm_.watches(side::upstream) && upstream_.socket.entry().broken() &&
        fsm_.on_broken(side::upstream) == after_break::drop_upload)
        drop_upload(make_error_code(boost::system::errc::broken_pipe));
}

template <class Upstream>
void relay_turns<Upstream>::fail_client(error_code why) noexcept
{
    error_ = why;
    fsm_.on_failure(side::client, reason_for(phase::client_io, why));
}

template <class Upstream>
void relay_turns<Upstream>::fail_upstream(error_code why) noexcept
{
    error_ = why;
    fsm_.on_failure(side::upstream, reason_for(phase::upstream_io, why));
}

template class relay_turns<upstream_side>;
template class relay_turns<tls_upstream>;

} // namespace cleat::app
