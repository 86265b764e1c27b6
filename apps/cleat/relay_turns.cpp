#include "relay_turns.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>

namespace cleat::app {
namespace {

// The kernel reports a socket's error once, and an earlier call may have taken it: a reset then.
error_code error_or_reset(error_code reported) noexcept
{
    return reported ? reported : make_error_code(boost::system::errc::connection_reset);
}

} // namespace

relay_turns::relay_turns(
    client_end client, upstream_side& upstream, relay_deadlines deadlines,
    byte_counts& traffic) noexcept
    : client_{client}, upstream_{upstream}, traffic_{traffic}, fsm_{deadlines}
{
    // No event comes for bytes that the handshake left in the channel.
    if (client_.has_more())
        client_.socket().entry().more_to_read();
    if (!upstream_.unsent.empty())
        fsm_.on_sink_full(direction::up);
    if (client_.unsent())
        fsm_.on_sink_full(direction::down);
}

void relay_turns::take() noexcept
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

std::optional<std::chrono::milliseconds> relay_turns::begin_wait() noexcept
{
    if (fsm_.sends_fin()) {
        client_.socket().shutdown_send();
        fsm_.on_fin_sent();
    }
    return fsm_.on_wait();
}

net::interest relay_turns::client_interest() const noexcept
{
    return {
        &client_.socket().entry(), fsm_.reads(direction::up), fsm_.flushes(direction::down),
        !fsm_.is_broken(side::client)};
}

net::interest relay_turns::upstream_interest() const noexcept
{
    return {
        &upstream_.socket.entry(), fsm_.reads(direction::down), fsm_.flushes(direction::up),
        !fsm_.is_broken(side::upstream)};
}

void relay_turns::on_interrupted(error_code why) noexcept
{
    if (why != error::idle_timeout)
        return fsm_.on_stop(reason_for(phase::relay_wait, why));
    if (fsm_.delivers_after_break())
        error_ = error_or_reset({});
    fsm_.on_timeout(fsm_.asks_unacknowledged() ? client_.socket().unacknowledged() : 0);
}

void relay_turns::move_up() noexcept
{
    net::readiness::entry& source = client_.socket().entry();
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = client_.read(block, fsm_.turn(direction::up), source.ended());
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

void relay_turns::send_up(std::span<std::byte const> bytes) noexcept
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

void relay_turns::fail_sending_up(error_code why) noexcept
{
    if (!is_out_of_resources(why))
        return drop_upload(why);
    error_ = why;
    fsm_.on_upload_lost();
}

void relay_turns::drop_upload(error_code why) noexcept
{
    upstream_.unsent.clear();
    // EPIPE: reading will show how the upstream ended, by its FIN or by the socket's error. The
    // kernel reports any other error once, here, and then shows an end like a FIN's.
    bool const readable = why == boost::system::errc::broken_pipe;
    fsm_.drop_upload(readable ? answer_end::readable : answer_end::lost);
}

void relay_turns::move_down() noexcept
{
    net::readiness::entry& source = upstream_.socket.entry();
    std::size_t const turn = std::min(fsm_.turn(direction::down), client_.write_max());
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext().first(turn);
    bool const ended = source.ended();
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
    write_down(block.first(r.bytes), last);
}

void relay_turns::write_down(std::span<std::byte const> bytes, bool last) noexcept
{
    client_.socket().entry().use_up_write();
    client_.stop_ticket();
    net::progress const p = client_.write(
        bytes, last ? net::channel::after_write::close_notify : net::channel::after_write::nothing);
    if (p.error)
        return fail_client(p.error);
    // write_max promises that all is taken, but OpenSSL writes nothing while it has half a
    // handshake message: a client must end a KeyUpdate that it began before it is answered.
    if (p.bytes != bytes.size())
        return fail_client(error::protocol_violation);
    fsm_.on_moved(direction::down, bytes.size());
    if (p.next == net::wait::writable)
        fsm_.on_sink_full(direction::down);
    if (last)
        fsm_.on_end(direction::down, ending::clean);
}

void relay_turns::flush_up() noexcept
{
    error_code ec;
    bool const full = upstream_.flush(ec);
    if (ec)
        return fail_sending_up(ec);
    if (!full)
        fsm_.on_flushed(direction::up);
}

void relay_turns::flush_down() noexcept
{
    client_.socket().entry().use_up_write();
    net::progress const p = client_.flush();
    if (p.error)
        return fail_client(p.error);
    if (p.next == net::wait::none)
        fsm_.on_flushed(direction::down);
}

void relay_turns::pass_end_up() noexcept
{
    fsm_.on_end_passed(direction::up);
    if (!fsm_.over()) // Closing sends the same FIN with one system call less.
        upstream_.socket.shutdown_send();
}

void relay_turns::pass_end_down() noexcept
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
void relay_turns::notice_breaks() noexcept
{
    if (fsm_.watches(side::client) && client_.socket().entry().broken() &&
        fsm_.on_broken(side::client) == after_break::fail)
        return fail_client(error_or_reset(client_.socket().error()));
    if (fsm_.watches(side::upstream) && upstream_.socket.entry().broken() &&
        fsm_.on_broken(side::upstream) == after_break::drop_upload)
        drop_upload(make_error_code(boost::system::errc::broken_pipe));
}

void relay_turns::fail_client(error_code why) noexcept
{
    error_ = why;
    fsm_.on_failure(side::client, reason_for(phase::client_io, why));
}

void relay_turns::fail_upstream(error_code why) noexcept
{
    error_ = why;
    fsm_.on_failure(side::upstream, reason_for(phase::upstream_io, why));
}

} // namespace cleat::app
