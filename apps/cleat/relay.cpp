// A wake-up means that something is ready. One turn then moves as much as it can in each direction,
// through the thread's scratch blocks: one recv, all its records through TLS, one send. The
// relay_fsm decides which side is read and flushed, and which end is passed on; this file makes the
// system calls and reports their results to it.

#include "relay.hpp"
#include "relay_end.hpp"
#include "relay_fsm.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <chrono>
#include <span>

namespace cleat::app {
namespace {

// The kernel reports a socket's error once, and an earlier call may have taken it: a reset then.
error_code error_or_reset(error_code reported) noexcept
{
    return reported ? reported : make_error_code(boost::system::errc::connection_reset);
}

// relay_turns takes the turns of one connection.
class relay_turns
{
public:
    relay_turns(client_side& client, upstream_side& upstream, byte_counts& traffic) noexcept
        : client_{client}, upstream_{upstream}, traffic_{traffic}
    {
        // No event comes for bytes that the handshake left in the channel.
        if (client_.channel.unread() || client_.early_end)
            client_.socket.entry().more_to_read();
        if (!upstream_.unsent.empty())
            fsm_.on_sink_full(direction::up);
        if (client_.channel.unsent())
            fsm_.on_sink_full(direction::down);
    }

    [[nodiscard]] relay_fsm const& fsm() const noexcept { return fsm_; }

    void take() noexcept
    {
        fsm_.on_turn();
        if (fsm_.flushes(direction::up) && upstream_.socket.entry().writable())
            flush_up();
        if (fsm_.flushes(direction::down) && client_.socket.entry().writable())
            flush_down();
        if (fsm_.reads(direction::down) && upstream_.socket.entry().readable())
            move_down();
        if (fsm_.reads(direction::up) && client_.socket.entry().readable())
            move_up();
        if (fsm_.passes_end(direction::up))
            pass_end_up();
        if (fsm_.passes_end(direction::down))
            pass_end_down();
        notice_breaks();
    }

    // give_up drops the bytes that are on their way after a break.
    void give_up() noexcept
    {
        fsm_.is_broken(side::client) ? fail_client(error_or_reset({}))
                                     : fail_upstream(error_or_reset({}));
        client_.socket.reset();
    }

    // holds_whole_upload: the client broke behind the end of its upload, and the kernel holds some
    // of it, which an RST of ours would destroy.
    [[nodiscard]] bool holds_whole_upload() const noexcept { return holds_whole_upload_; }

    [[nodiscard]] net::interest client_interest() const noexcept
    {
        return {
            &client_.socket.entry(), fsm_.reads(direction::up), fsm_.flushes(direction::down),
            !fsm_.is_broken(side::client)};
    }
    [[nodiscard]] net::interest upstream_interest() const noexcept
    {
        return {
            &upstream_.socket.entry(), fsm_.reads(direction::down), fsm_.flushes(direction::up),
            !fsm_.is_broken(side::upstream)};
    }

    [[nodiscard]] relay_outcome outcome() const noexcept { return {fsm_.reason(), error_}; }

private:
    void move_up() noexcept
    {
        net::readiness::entry& source = client_.socket.entry();
        std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
        net::progress const p = read_client(block, source.ended());
        if (p.next == net::wait::none && !p.error)
            source.more_to_read();
        fsm_.on_moved(direction::up, p.on_wire);
        client_.ticket.stop();
        if (p.bytes != 0)
            send_up(block.first(p.bytes));
        if (fsm_.over())
            return;
        // The engine may have answered the client (KeyUpdate, RFC 8446, section 4.6.3) and found
        // its socket full.
        if (client_.channel.unsent() && !fsm_.flushes(direction::down))
            fsm_.on_sink_full(direction::down);
        if (p.error == error::closed)
            fsm_.on_end(direction::up, ending::clean);
        else if (p.error == error::truncated)
            fsm_.on_end(direction::up, ending::truncated);
        else if (p.error)
            fail_client(p.error);
    }

    // An end that came with the first bytes cannot be read a second time.
    net::progress read_client(std::span<std::byte> block, bool ended) noexcept
    {
        if (client_.early_end)
            return {.error = client_.early_end};
        return client_.channel.read(client_.socket.entry(), block, fsm_.turn(direction::up), ended);
    }

    void send_up(std::span<std::byte const> bytes) noexcept
    {
        if (fsm_.deaf())
            return;
        traffic_.up += bytes.size();
        error_code ec;
        if (upstream_.send(bytes, ec))
            fsm_.on_sink_full(direction::up);
        if (ec)
            fail_sending_up(ec);
    }

    // Without memory the bytes are lost. A reset then: the upstream must not take the part that it
    // got for the whole.
    void fail_sending_up(error_code ec) noexcept
    {
        if (!is_out_of_resources(ec))
            return go_deaf(ec);
        fail_client(ec);
        client_.socket.reset();
    }

    void go_deaf(error_code ec) noexcept
    {
        upstream_.unsent.clear();
        // EPIPE: reading will show how the upstream ended, by its FIN or by the socket's error. The
        // kernel reports any other error once, here, and then shows an end like a FIN's.
        bool const readable = ec == boost::system::errc::broken_pipe;
        fsm_.on_upstream_deaf(readable ? answer_end::readable : answer_end::lost);
    }

    void move_down() noexcept
    {
        net::readiness::entry& source = upstream_.socket.entry();
        std::size_t const turn = std::min(fsm_.turn(direction::down), client_.channel.write_max());
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
        // After the event of the end no other comes for the bytes behind these.
        if (!last && (ended || r.bytes == turn))
            source.more_to_read();
        traffic_.down += r.bytes;
        write_down(block.first(r.bytes), last);
    }

    void write_down(std::span<std::byte const> bytes, bool last) noexcept
    {
        client_.socket.entry().use_up_write();
        client_.ticket.stop();
        net::channel::piece const pieces[] = {bytes};
        net::progress const p = client_.channel.write(
            client_.socket.native_handle(), pieces,
            last ? net::channel::after_write::close_notify : net::channel::after_write::nothing);
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

    void flush_up() noexcept
    {
        error_code ec;
        bool const full = upstream_.flush(ec);
        if (ec)
            return fail_sending_up(ec);
        if (!full)
            fsm_.on_flushed(direction::up);
    }

    void flush_down() noexcept
    {
        client_.socket.entry().use_up_write();
        net::progress const p = client_.channel.flush(client_.socket.native_handle());
        if (p.error)
            return fail_client(p.error);
        if (p.next == net::wait::none)
            fsm_.on_flushed(direction::down);
    }

    void pass_end_up() noexcept
    {
        fsm_.on_end_passed(direction::up);
        if (!fsm_.over()) // Closing sends the same FIN with one system call less.
            upstream_.socket.shutdown_send();
    }

    void pass_end_down() noexcept
    {
        client_.socket.entry().use_up_write();
        net::progress const p = client_.channel.close(client_.socket.native_handle());
        if (p.error)
            return fail_client(p.error);
        if (p.next == net::wait::writable)
            return fsm_.on_sink_full(direction::down);
        fsm_.on_end_passed(direction::down);
    }

    // A side may break while it is neither read nor written.
    void notice_breaks() noexcept
    {
        if (fsm_.watches(side::client) && client_.socket.entry().broken() &&
            fsm_.on_broken(side::client) == after_break::fail)
            return fail_client(error_or_reset(client_.socket.error()));
        if (fsm_.watches(side::upstream) && upstream_.socket.entry().broken() &&
            fsm_.on_broken(side::upstream) == after_break::go_deaf)
            go_deaf(make_error_code(boost::system::errc::broken_pipe));
    }

    // An RST for an RST: the other side must not take a part for the whole.
    void fail_client(error_code ec) noexcept
    {
        error_ = ec;
        fsm_.on_failure(reason_for(step::client_io, ec));
        holds_whole_upload_ = !fsm_.delivers(direction::up) && upstream_.socket.unsent() != 0;
        if (!holds_whole_upload_)
            upstream_.socket.reset();
    }

    void fail_upstream(error_code ec) noexcept
    {
        error_ = ec;
        fsm_.on_failure(reason_for(step::upstream_io, ec));
    }

    client_side& client_;
    upstream_side& upstream_;
    byte_counts& traffic_;
    relay_fsm fsm_;
    error_code error_; // Of the side that broke.
    bool holds_whole_upload_ = false;
};

} // namespace

net::task<relay_outcome> relay(
    net::interrupt& interrupt, client_side& client, upstream_side& upstream,
    relay_deadlines deadlines, byte_counts& traffic)
{
    relay_turns turns{client, upstream, traffic};
    farewell end{interrupt, client, deadlines};
    for (;;) {
        turns.take();
        if (turns.fsm().cuts_answer())
            co_await close_after_break(interrupt, client.socket, deadlines.after_break());
        if (turns.holds_whole_upload())
            co_await close_after_break(interrupt, upstream.socket, deadlines.after_break());
        if (turns.fsm().over())
            co_return turns.outcome();

        bool const awaits_client = turns.fsm().awaits_client();
        bool const delivers = turns.fsm().delivers_after_break();
        if (turns.fsm().lingers() && !awaits_client)
            end.send_fin();
        if (awaits_client)
            end.set_deadline();
        else
            interrupt.expires_in(
                delivers ? deadlines.after_break() : deadlines.idle, error::idle_timeout);
        client.socket.set_priority(
            turns.fsm().is_bulk() ? net::priority::bulk : net::priority::established);
        error_code const ec =
            co_await net::ready{interrupt, turns.client_interest(), turns.upstream_interest()};
        if (!ec || (awaits_client && end.goes_on(ec)))
            continue;
        if (ec == error::idle_timeout && delivers) {
            turns.give_up();
            co_return turns.outcome();
        }
        // cleat ends the connection here, not the client: a FIN would tell the upstream that the
        // client had sent all.
        if (turns.fsm().delivers(direction::up))
            upstream.socket.reset();
        bool const lingered = awaits_client && !end.undelivered();
        co_return relay_outcome{reason_for(lingered ? step::linger_wait : step::relay_wait, ec)};
    }
}

} // namespace cleat::app
