// A wake-up means that something is ready. One turn then moves as much as it can. relay_fsm decides
// everything: what is read and flushed, which end is passed on, which deadline a wait has, and how
// each connection is closed. relay_turns makes the system calls; this file waits.

#include "limits/stalled.hpp"
#include "relay/last_bytes.hpp"
#include "relay/relay.hpp"
#include "relay/relay_turns.hpp"
#include "relay/upstream_side.hpp"
#include "upstream_tls/tls_upstream.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>

namespace cleat::app {
namespace {

// The relay's place among those that wait. Null where no list is kept, so that it costs an idle
// connection no memory, and where there is no memory for it.
std::unique_ptr<stalled> place_among_stalled(
    byte_counts const& traffic, net::interrupt& interrupt) noexcept
{
    stalled_list* const list =
        traffic.published == nullptr ? nullptr : traffic.published->stalled();
    return std::unique_ptr<stalled>{
        list == nullptr ? nullptr : new (std::nothrow) stalled{list, interrupt}};
}

// Closes the connection after the bytes that this machine's kernel holds for the receiver, which
// has `patience` for each part of them. Where there are none, it gets an RST, as the broken side
// sent one.
net::task<> close_after_last_bytes(
    net::interrupt& interrupt, net::socket& receiver, std::chrono::milliseconds patience)
{
    if (receiver.unsent() == 0) {
        receiver.reset();
        co_return;
    }
    last_bytes left{receiver.unacknowledged()};
    receiver.shutdown_send();
    interrupt.expires_in(patience, error::idle_timeout);
    for (;;) {
        // The receiver's bytes are read and dropped: unread, they would turn our close into an RST.
        std::span<std::byte> const room = net::scratch::of_this_thread().plaintext();
        net::io_result const received = receiver.receive(room);
        if (received.error)
            co_return;
        if (received.bytes == room.size())
            receiver.entry().more_to_read();
        net::interest const readable{&receiver.entry(), true, false};
        error_code const interrupted = co_await net::ready{interrupt, readable};
        if (!interrupted)
            continue;
        left.on_timeout(receiver.unacknowledged());
        if (interrupted != error::idle_timeout || left.stalled() != 0) {
            receiver.reset();
            co_return;
        }
        interrupt.expires_in(patience, error::idle_timeout);
    }
}

// The answer of a TLS upstream was cut: the RST, by which a client in plaintext learns it, is sent
// after the bytes that this machine's kernel holds for the client.
net::task<> reset_after_last_bytes(
    net::interrupt& interrupt, net::socket& receiver, std::chrono::milliseconds patience)
{
    std::chrono::milliseconds stalled{0};
    std::size_t left = receiver.unsent();
    while (left != 0 && stalled < patience) {
        interrupt.expires_in(limits::fin_delay, error::idle_timeout);
        net::interest const break_only{&receiver.entry(), false, false, true};
        error_code const ended = co_await net::ready{interrupt, break_only};
        if (ended != error::idle_timeout)
            break;
        stalled = receiver.unsent() == left ? stalled + limits::fin_delay : stalled.zero();
        left = receiver.unsent();
    }
    receiver.reset();
}

} // namespace

template <class Upstream>
net::task<relay_outcome> relay(
    net::interrupt& interrupt, client_end client, Upstream& upstream, relay_deadlines deadlines,
    byte_counts& traffic)
{
    interrupt.clear();
    relay_turns<Upstream> turns{client, upstream, deadlines, traffic};
    relay_fsm const& fsm = turns.fsm();
    std::unique_ptr<stalled> const place = place_among_stalled(traffic, interrupt);
    for (;;) {
        turns.take();
        if (fsm.over())
            break;
        if (std::optional<std::chrono::milliseconds> const delay = turns.begin_wait())
            interrupt.expires_in(*delay, error::idle_timeout);
        client.socket().set_priority(
            fsm.is_bulk() ? net::priority::bulk : net::priority::established);
        if (place && fsm.flushes(direction::up) && !fsm.flushes(direction::down))
            place->join(upstream.socket, traffic.up);
        else if (place)
            place->join(client.socket(), traffic.down);
        error_code const ec =
            co_await net::ready{interrupt, turns.client_interest(), turns.upstream_interest()};
        if (ec)
            turns.on_interrupted(ec);
    }
    if (place)
        place->leave();
    // A FIN needs nothing here: it is sent when the caller closes the socket.
    if (fsm.closes(side::client) == closing::reset)
        client.socket().reset();
    if (fsm.closes(side::upstream) == closing::reset)
        upstream.socket.reset();
    if (fsm.closes(side::client) == closing::last_bytes)
        co_await close_after_last_bytes(interrupt, client.socket(), deadlines.after_break());
    if constexpr (Upstream::is_tls)
        if (fsm.closes(side::client) == closing::last_bytes_and_reset)
            co_await reset_after_last_bytes(interrupt, client.socket(), deadlines.after_break());
    if (fsm.closes(side::upstream) == closing::last_bytes)
        co_await close_after_last_bytes(interrupt, upstream.socket, deadlines.after_break());
    co_return relay_outcome{fsm.reason(), turns.error()};
}

template net::task<relay_outcome> relay<upstream_side>(
    net::interrupt&, client_end, upstream_side&, relay_deadlines, byte_counts&);
template net::task<relay_outcome> relay<tls_upstream>(
    net::interrupt&, client_end, tls_upstream&, relay_deadlines, byte_counts&);

} // namespace cleat::app
