// A wake-up says that something is ready. One turn then moves what it can in each
// direction, through the thread's scratch blocks: one recv, all its records through TLS, one send.
// The relay_fsm decides what is read, flushed and passed on; this file only does it and reports
// back.

#include "relay.hpp"
#include "relay_fsm.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <utility>

namespace cleat::app {
namespace {

class turns
{
public:
    turns(client_side& from, upstream_side& to, byte_counts& moved) noexcept
        : client_{from}, upstream_{to}, moved_{moved}
    {
        // Bytes that came with the handshake wait in the channel, where no event will tell of them.
        if (client_.channel.unread() || client_.early_end)
            client_.socket.entry().more_to_read();
        // And either side may be full already.
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

    // deserted: a side broke, and only what it said before is still on its way. An answer that had
    // come to its end before is not: its client has the time that every client has.
    [[nodiscard]] bool deserted() const noexcept
    {
        return client_broke_ || (upstream_broke_ && !fsm_.ended(direction::down));
    }

    // give_up ends what is on its way.
    void give_up() noexcept
    {
        client_broke_ ? fail_client(made_sure({})) : fail_upstream(made_sure({}));
        client_.socket.reset();
    }

    // breaks_off: the upstream broke, and what it said before may still be in the kernel, where an
    // RST of ours would destroy it.
    [[nodiscard]] bool breaks_off() const noexcept
    {
        return fsm_.over() && fsm_.reason() == close_reason::upstream_reset;
    }

    // hands_over: the client broke behind an upload that had come to its end, and the kernel still
    // has some of it, which an RST of ours would destroy.
    [[nodiscard]] bool hands_over() const noexcept { return hands_over_; }

    [[nodiscard]] net::interest in_client() const noexcept
    {
        return {
            &client_.socket.entry(), fsm_.reads(direction::up), fsm_.flushes(direction::down),
            !client_broke_};
    }
    [[nodiscard]] net::interest in_upstream() const noexcept
    {
        return {
            &upstream_.socket.entry(), fsm_.reads(direction::down), fsm_.flushes(direction::up),
            !upstream_broke_};
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
        // TLS may have answered the client (KeyUpdate, RFC 8446, section 4.6.3), and found it full.
        if (client_.channel.unsent() && !fsm_.flushes(direction::down))
            fsm_.on_sink_full(direction::down);
        if (p.error == error::closed)
            fsm_.on_end(direction::up, ending::clean);
        else if (p.error == error::truncated)
            fsm_.on_end(direction::up, ending::truncated);
        else if (p.error)
            fail_client(p.error);
    }

    // An end that came with the first bytes is not to be read a second time.
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
        moved_.up += bytes.size();
        error_code ec;
        if (upstream_.send(bytes, ec))
            fsm_.on_sink_full(direction::up);
        if (ec)
            fail_sending_up(ec);
    }

    // Bytes that we had no memory for are lost; the upstream, which is well, must not take what it
    // got for all.
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
        fsm_.on_upstream_deaf();
        // EPIPE: its FIN came first, or the socket still has its error to tell: reading will say
        // how it ended. Any other error is told only once, here, and the end that is read then is
        // none.
        cut_ = ec != boost::system::errc::broken_pipe;
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
        if (r.error == error::closed && !cut_)
            return fsm_.on_end(direction::down, ending::clean);
        if (r.error)
            return fail_upstream(r.error);
        // A short read of an upstream whose FIN has come was the last: the answer and the
        // close_notify can then leave together.
        bool const last = ended && r.bytes < turn && !cut_;
        // The event of the end has been, so nothing would call again for what is behind these
        // bytes.
        if (!last && (ended || r.bytes == turn))
            source.more_to_read();
        moved_.down += r.bytes;
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
        // handshake message: a client that begins a KeyUpdate in one record is to end it before it
        // is answered.
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
        if (!fsm_.over()) // Closing will say the same with one system call less.
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

    // An error is told once, and somebody may have heard it before.
    static error_code made_sure(error_code told) noexcept
    {
        return told ? told : make_error_code(boost::system::errc::connection_reset);
    }

    // A side that is not being read or written just now may break too. What it has said before goes
    // on to the other side, for as long as that takes it; an answer that has nobody to go to ends.
    void notice_breaks() noexcept
    {
        if (fsm_.over())
            return;
        bool const client_left_alone =
            !fsm_.reads(direction::up) && !fsm_.flushes(direction::down) && !client_broke_;
        if (client_left_alone && client_.socket.entry().broken()) {
            if (!fsm_.delivers(direction::up))
                return fail_client(made_sure(client_.socket.error()));
            client_broke_ = true;
        }
        bool const upstream_left_alone =
            !fsm_.reads(direction::down) && !fsm_.flushes(direction::up) && !upstream_broke_;
        if (upstream_left_alone && upstream_.socket.entry().broken()) {
            upstream_broke_ = true;
            if (fsm_.ended(direction::down) && fsm_.delivers(direction::up))
                go_deaf(make_error_code(boost::system::errc::broken_pipe));
        }
    }

    // One side's break is the other's: an RST for an RST, so that nobody takes half for a whole.
    void fail_client(error_code ec) noexcept
    {
        error_ = ec;
        fsm_.on_failure(
            is_reset(ec)              ? close_reason::client_reset
            : is_out_of_resources(ec) ? close_reason::out_of_resources
                                      : close_reason::client_failed);
        hands_over_ = !fsm_.delivers(direction::up) && upstream_.socket.unsent() != 0;
        if (!hands_over_)
            upstream_.socket.reset();
    }

    void fail_upstream(error_code ec) noexcept
    {
        error_ = ec;
        fsm_.on_failure(close_reason::upstream_reset);
    }

    client_side& client_;
    upstream_side& upstream_;
    byte_counts& moved_;
    relay_fsm fsm_;
    error_code error_;          // Of the side that broke.
    bool cut_ = false;          // The upstream broke off, and its answer has no end.
    bool client_broke_ = false; // And not all that it said has been passed on.
    bool upstream_broke_ = false;
    bool hands_over_ = false;
};

// The end of an answer. close_notify has told the client that it was the last, and it will close;
// our FIN then goes with the closing, for one system call and one packet less. A client that does
// not close soon gets the FIN by itself, and one that does not close at all is left; but not while
// it is still taking what the kernel holds for it, which may be megabytes.
class farewell
{
public:
    farewell(net::interrupt& by, client_side& to, relay_deadlines within) noexcept
        : by_{by}, client_{to}, within_{within}
    {
    }

    // To be called before each wait: a client that still sends is not one that does not close.
    void begin()
    {
        if (fin_sent_)
            by_.expires_in(within_.linger, error::idle_timeout);
        else if (!begun_)
            by_.expires_in(limits::fin_delay, error::idle_timeout);
        begun_ = true;
    }

    // The client's turn is not near, so what carries the FIN is not either.
    void send_fin() noexcept
    {
        if (!std::exchange(fin_sent_, true))
            client_.socket.shutdown_send();
    }

    // False: that was the last deadline, or another reason to stop waiting.
    [[nodiscard]] bool goes_on(error_code interrupted)
    {
        if (interrupted != error::idle_timeout)
            return false;
        if (fin_sent_)
            return still_takes();
        send_fin();
        return true;
    }

    // undelivered: what the client has not taken ended the wait, not that it did not close.
    [[nodiscard]] bool undelivered() const noexcept { return untaken_ > fin; }

private:
    static constexpr std::size_t fin = 1; // It has a number of its own in the stream.

    // Asked once in each linger timeout, so a transfer that goes on costs nothing for it.
    bool still_takes() noexcept
    {
        std::size_t const before = std::exchange(untaken_, client_.socket.unacknowledged());
        stalled_ = untaken_ == before ? stalled_ + within_.linger : std::chrono::milliseconds{};
        return undelivered() && (within_.idle.count() == 0 || stalled_ < within_.idle);
    }

    net::interrupt& by_;
    client_side& client_;
    relay_deadlines within_;
    std::size_t untaken_ = 0;
    std::chrono::milliseconds stalled_{};
    bool begun_ = false;
    bool fin_sent_ = false;
};

// The end of what a side that broke has said. Where all of it has left this machine it is an RST,
// as that side's was. Else the other side gets first what the kernel holds for it, and then a FIN;
// it has `patience` for each part of that. By a FIN without close_notify a client knows that this
// is not all of an answer; an upstream gets one only where it is all of an upload.
net::task<> break_off(net::interrupt& by, net::socket& to, std::chrono::milliseconds patience)
{
    if (to.unsent() == 0) {
        to.reset();
        co_return;
    }
    std::size_t left = to.unacknowledged();
    to.shutdown_send();
    by.expires_in(patience, error::idle_timeout);
    for (;;) {
        // What it still says is for nobody; unread, it would make an RST of our closing.
        std::span<std::byte> const room = net::scratch::of_this_thread().plaintext();
        net::io_result const r = to.receive(room);
        if (r.error)
            co_return;
        if (r.bytes == room.size())
            to.entry().more_to_read();
        error_code const ec = co_await net::ready{by, net::interest{&to.entry(), true, false}};
        if (!ec)
            continue;
        std::size_t const before = std::exchange(left, to.unacknowledged());
        if (ec != error::idle_timeout || left == before) {
            to.reset();
            co_return;
        }
        by.expires_in(patience, error::idle_timeout);
    }
}

close_reason reason_for(error_code interrupted, bool client_does_not_close) noexcept
{
    if (interrupted == error::stopped)
        return close_reason::stopped;
    if (interrupted != error::idle_timeout)
        return close_reason::out_of_resources;
    return client_does_not_close ? close_reason::linger_timeout : close_reason::idle_timeout;
}

// A side that broke has no more to say, so what it said before is not to wait for ever to be heard.
std::chrono::milliseconds patience(relay_deadlines within, bool deserted) noexcept
{
    if (!deserted)
        return within.idle;
    return within.idle.count() == 0 ? within.linger : std::min(within.idle, within.linger);
}

} // namespace

net::task<relay_outcome> relay(
    net::interrupt& by, client_side& from, upstream_side& to, relay_deadlines within,
    byte_counts& moved)
{
    turns here{from, to, moved};
    farewell end{by, from, within};
    for (;;) {
        here.take();
        if (here.breaks_off())
            co_await break_off(by, from.socket, patience(within, true));
        if (here.hands_over())
            co_await break_off(by, to.socket, patience(within, true));
        if (here.fsm().over())
            co_return here.outcome();

        bool const awaits_client = here.fsm().awaits_client();
        if (here.fsm().lingers() && !awaits_client)
            end.send_fin();
        if (awaits_client)
            end.begin();
        else
            by.expires_in(patience(within, here.deserted()), error::idle_timeout);
        from.socket.set_priority(
            here.fsm().is_bulk() ? net::priority::bulk : net::priority::established);
        error_code const ec = co_await net::ready{by, here.in_client(), here.in_upstream()};
        if (!ec || (awaits_client && end.goes_on(ec)))
            continue;
        if (ec == error::idle_timeout && here.deserted()) {
            here.give_up();
            co_return here.outcome();
        }
        // We end it, not the client, whose bytes the upstream is not to take for all there were.
        if (here.fsm().delivers(direction::up))
            to.socket.reset();
        co_return relay_outcome{reason_for(ec, awaits_client && !end.undelivered())};
    }
}

} // namespace cleat::app
