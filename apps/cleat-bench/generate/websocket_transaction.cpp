#include "generate/attempt.hpp"
#include "generate/client_connection.hpp"
#include "generate/due_times.hpp"
#include "generate/websocket_peer.hpp"
#include "generate/websocket_transaction.hpp"
#include "generate/worker_turns.hpp"

#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;
using goal = websocket_peer::goal;

// The server answers our Close by its own within one round trip. Nothing is measured any more.
constexpr std::chrono::milliseconds close_patience{1000};

// websocket_link is one connection with its WebSocket.
struct websocket_link
{
    [[nodiscard]] net::interest waiting(bool is_full) noexcept
    {
        return {&connection->socket.entry(), true, is_full};
    }

    void drop() noexcept
    {
        peer.reset();
        connection.reset();
    }

    std::optional<client_connection> connection;
    std::optional<websocket_peer> peer;
};

net::progress send_piece(websocket_link& link, attempt& account) noexcept
{
    return link.connection->send(*link.peer, [&](std::size_t bytes) { account.sent(bytes); });
}

net::progress receive_piece(websocket_link& link, attempt& account)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = link.connection->receive(block);
    account.received(p.bytes);
    link.peer->take(block.first(p.bytes));
    websocket_peer::heard const heard = link.peer->take_heard();
    account.heard(heard.pings, heard.messages);
    return p;
}

bool may_read(client_connection& connection) noexcept
{
    return connection.socket.entry().readable() || connection.channel.unread();
}

// The end of an open WebSocket without a Close frame, with close_notify or without.
bool is_end(error_code ec) noexcept
{
    return ec == error::closed || ec == error::truncated;
}

// count_failure counts why a WebSocket has failed, in the current stage: by its fault, or else by
// the error. It answers a Close of the server, as far as the socket takes that at once.
void count_failure(websocket_link& link, attempt& account, error_code ec)
{
    if (std::string const& fault = link.peer->fault(); !fault.empty())
        account.failed(fault);
    else if (is_end(ec) && link.peer->has_reached(goal::opened))
        account.failed("closed without a Close frame");
    else
        account.failed(ec, link.connection->channel.engine());
    if (!link.peer->has_reached(goal::closed))
        return;
    if (!link.connection->channel.unsent())
        static_cast<void>(send_piece(link, account));
    static_cast<void>(link.connection->channel.close(link.connection->socket.entry()));
}

// talk sends and receives until the goal is reached, or the WebSocket has failed. It reads while it
// sends: an echo server answers before the last byte of a long message has left, and stops reading
// until its answer is taken.
net::task<error_code> talk(
    net::interrupt& interrupt, websocket_link& link, attempt& account, goal wanted,
    std::chrono::milliseconds patience)
{
    interrupt.expires_in(patience, error::idle_timeout);
    unsigned rounds = 0;
    for (bool moved = false;;) {
        bool full = false;
        bool const was_full = link.connection->channel.unsent();
        if (link.peer->has_to_send() || was_full) {
            net::progress const p = send_piece(link, account);
            full = p.next == net::wait::writable;
            // A long message goes on where the server takes some of it.
            moved = moved || (was_full && !full) || (p.bytes != 0 && link.peer->is_sending());
            if (error_code const ec = link.connection->failure_of_send(p))
                co_return ec;
        }
        net::progress p{.next = net::wait::readable};
        if (may_read(*link.connection))
            p = receive_piece(link, account);
        if (link.peer->has_reached(wanted) || !link.peer->fault().empty())
            co_return error_code{};
        if (p.error)
            co_return p.error;
        bool const goes_on = p.bytes != 0 || (link.peer->has_to_send() && !full);
        if (goes_on && (++rounds % rounds_max != 0 || link.connection->channel.unread()))
            continue;
        bool const answered = link.peer->take_progress();
        if (answered || std::exchange(moved, false))
            interrupt.expires_in(patience, error::idle_timeout);
        error_code const ec =
            co_await net::ready{interrupt, link.waiting(full || link.peer->has_to_send())};
        if (ec)
            co_return ec;
    }
}

// open_websocket connects, shakes hands and opens. False: the attempt has counted a failure.
net::task<bool> open_websocket(
    net::interrupt& interrupt, worker_load& load, attempt& account, websocket_link& link)
{
    account.opening_begun();
    std::size_t early = 0;
    bool const is_there = co_await establish(interrupt, load, account, link.connection, {}, early);
    if (!is_there)
        co_return false;
    link.peer.emplace(*load.spec().websocket, account.request(), load.random_bytes());
    account.upgrade_begun();
    error_code const ec =
        co_await talk(interrupt, link, account, goal::opened, load.spec().timeouts.answer);
    // A server may close in the same packet: that is a failure after the opening.
    if (!link.peer->has_reached(goal::opened)) {
        count_failure(link, account, ec);
        co_return false;
    }
    account.opened();
    co_return true;
}

// echo_message sends a message and takes its echo. False: the attempt has counted a failure.
net::task<bool> echo_message(
    net::interrupt& interrupt, worker_load& load, attempt& account, websocket_link& link)
{
    if (!link.peer->fault().empty()) { // It came in the same packet as the echo before.
        account.waits_open();
        count_failure(link, account, {});
        co_return false;
    }
    account.message_begun();
    link.peer->send_message();
    error_code const ec =
        co_await talk(interrupt, link, account, goal::echoed, load.spec().timeouts.answer);
    if (!link.peer->has_reached(goal::echoed)) {
        count_failure(link, account, ec);
        co_return false;
    }
    account.answered();
    co_return true;
}

// listen takes what comes while no message is under way, and answers pings, once. An error or a
// fault of the peer: the WebSocket has failed.
error_code listen(websocket_link& link, attempt& account)
{
    if (may_read(*link.connection)) {
        net::progress const p = receive_piece(link, account);
        if (p.error)
            return p.error;
    }
    if (link.peer->fault().empty() &&
        (link.peer->has_to_send() || link.connection->channel.unsent())) {
        net::progress const p = send_piece(link, account);
        return link.connection->failure_of_send(p);
    }
    return {};
}

// hold keeps the WebSocket open until the time is up, or the run is cut off. False: the attempt has
// counted a failure.
net::task<bool> hold(
    net::interrupt& interrupt, worker_load& load, attempt& account, websocket_link& link)
{
    for (;;) {
        error_code ec = listen(link, account);
        if (ec || !link.peer->fault().empty()) {
            count_failure(link, account, ec);
            co_return false;
        }
        std::chrono::nanoseconds const left = load.time_left(clock::now());
        if (left <= std::chrono::nanoseconds::zero())
            break;
        interrupt.expires_in(next_look(left), error::idle_timeout);
        ec = co_await net::ready{interrupt, link.waiting(link.connection->channel.unsent())};
        if (ec == error::stopped)
            break;
    }
    account.opening_answered();
    co_return true;
}

// close_websocket closes with the closing handshake, so that the server sees a clean end and its
// side of TCP closes first.
net::task<error_code> close_websocket(
    net::interrupt& interrupt, attempt& account, websocket_link& link)
{
    link.peer->close();
    error_code const ec = co_await talk(interrupt, link, account, goal::closed, close_patience);
    static_cast<void>(link.connection->channel.close(link.connection->socket.entry()));
    co_return ec;
}

// send_messages sends up to so many, each after the echo of the one before. False: the attempt has
// counted a failure.
net::task<bool> send_messages(
    net::interrupt& interrupt, worker_load& load, attempt& account, websocket_link& link,
    unsigned messages)
{
    for (unsigned sent = 0; load.spec().keep || sent != messages; ++sent) {
        if (sent != 0) {
            moment const now = clock::now();
            if (!load.take_next(now))
                break;
            account.next_transaction(now);
        }
        bool const is_echoed = co_await echo_message(interrupt, load, account, link);
        if (!is_echoed)
            co_return false;
    }
    co_return true;
}

} // namespace

net::detached transact_websocket(worker_load& load, moment intended, unsigned messages)
{
    load_spec const& spec = load.spec();
    attempt account{load, intended};
    net::interrupt interrupt{load.worker()};
    websocket_link link;
    bool is_ok = co_await open_websocket(interrupt, load, account, link);
    if (!is_ok)
        co_return;
    if (spec.websocket->use == websocket_use::echo)
        is_ok = co_await send_messages(interrupt, load, account, link, messages);
    else if (spec.websocket->use == websocket_use::hold)
        is_ok = co_await hold(interrupt, load, account, link);
    else
        account.opening_answered();
    if (is_ok)
        static_cast<void>(co_await close_websocket(interrupt, account, link));
    if (is_ok && spec.end == ending::reset)
        link.connection->socket.reset();
}

namespace {

// kept_websocket is a WebSocket that is kept, with the messages that are due on it.
struct kept_websocket
{
    kept_websocket(worker_load& of_worker, alarm own_alarm, kept_turn const& own_part)
        : load{of_worker}
        , due_alarm{std::move(own_alarm)}
        , part{own_part}
        , interrupt{of_worker.worker()}
        , free_since{own_part.begun}
    {
    }

    // open_ahead opens it in its turn before the first message is due.
    net::task<error_code> open_ahead(moment first_due)
    {
        error_code const ec = co_await wait_until(part.opens);
        if (ec)
            co_return ec;
        account.emplace(load, first_due, attempt::ahead{});
        bool const is_open = co_await open_websocket(interrupt, load, *account, link);
        if (!is_open)
            link.drop();
        is_lost = !is_open;
        free_since = clock::now();
        co_return error_code{};
    }

    // wait_until answers pings meanwhile. A WebSocket that fails is the failure of the next
    // message.
    net::task<error_code> wait_until(moment due)
    {
        interrupt.clear();
        while (clock::now() < due) {
            due_alarm.set(due);
            net::interest const more =
                link.connection ? link.waiting(link.connection->channel.unsent()) : net::interest{};
            error_code const ec = co_await net::ready{interrupt, due_alarm.interest(), more};
            if (ec)
                co_return ec;
            if (link.connection && failure.empty())
                listen_once();
        }
        co_return error_code{};
    }

    void listen_once()
    {
        error_code const ec = listen(link, *account);
        failure = link.peer->fault();
        if (ec && failure.empty())
            failure = is_end(ec) ? "closed without a Close frame"
                                 : kind_of(stage::open, ec, &link.connection->channel.engine());
        if (!failure.empty()) {
            static_cast<void>(link.connection->channel.close(link.connection->socket.entry()));
            link.drop();
        }
    }

    // send_due sends the message that is due, and takes its echo.
    net::task<error_code> send_due()
    {
        if (!failure.empty()) {
            account->waits_open();
            account->failed(std::exchange(failure, {}));
            co_return error_code{};
        }
        bool is_ok = link.connection.has_value();
        if (!is_ok)
            is_ok = co_await open_websocket(interrupt, load, *account, link);
        if (is_ok)
            is_ok = co_await echo_message(interrupt, load, *account, link);
        if (!is_ok)
            link.drop();
        co_return error_code{};
    }

    worker_load& load;
    alarm due_alarm;
    kept_turn part;
    std::optional<attempt> account;
    net::interrupt interrupt;
    websocket_link link;
    std::string failure;  // Of the WebSocket, while it waited for its next message.
    bool is_lost = false; // The opening ahead has failed, and with it the first message.
    moment free_since;
};

} // namespace

net::detached keep_messaging(worker_load& load, alarm due_alarm, kept_turn part)
{
    kept const& loop = std::get<kept>(load.spec().loop);
    due_times times{loop, part};
    kept_websocket own{load, std::move(due_alarm), part};
    moment due = times.next();
    error_code ec = co_await own.open_ahead(due);
    if (own.is_lost)
        due = times.next();
    for (; !ec && load.is_in_time(due); due = times.next()) {
        ec = co_await own.wait_until(due);
        if (ec || !load.is_in_time(due))
            break;
        own.account->due_transaction(due, own.free_since);
        if (own.interrupt.raised()) { // The run is cut off, and this message was due.
            own.account->failed(std::string{unfinished});
        } else if (loop.ends_on_time && !load.is_in_time(clock::now())) {
            own.account->failed_to_send();
        } else {
            static_cast<void>(co_await own.send_due());
            own.free_since = clock::now();
        }
    }
    if (own.link.connection)
        static_cast<void>(co_await close_websocket(own.interrupt, *own.account, own.link));
}

} // namespace cleat::bench
