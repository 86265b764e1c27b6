#include "generate/answer.hpp"
#include "generate/attempt.hpp"
#include "generate/client_connection.hpp"
#include "generate/due_times.hpp"
#include "generate/transaction.hpp"

#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cleat::bench {
namespace {

// A ticket follows the Finished by one round trip. A server that gave one before gives one again,
// or closes.
constexpr std::chrono::milliseconds ticket_patience{250};

// send_finished sends the client's Finished, where no first write takes it along. Bytes that the
// socket does not take go later; a failure is found by reading.
void send_finished(client_connection& connection) noexcept
{
    net::progress const sent = connection.channel.flush(connection.socket.entry());
    static_cast<void>(connection.failure_of_send(sent));
}

// send_some writes as much of `rest` as the socket takes, and moves its front.
net::progress send_some(client_connection& connection, std::span<std::byte const>& rest) noexcept
{
    net::channel::piece const pieces[] = {rest};
    net::progress const p = connection.channel.write(connection.socket.entry(), pieces);
    rest = rest.subspan(p.bytes);
    return p;
}

// receive_some reads once into the answer, which decides whether a clean end is an error.
net::progress receive_some(client_connection& connection, answer& reply)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = connection.receive(block);
    reply.take(block.first(p.bytes));
    if (p.error == error::closed)
        reply.end();
    return p;
}

// converse sends the request and takes the answer. It reads while it sends: an echo server answers
// before the last byte of a long request has left, and stops reading until its answer is taken.
net::task<error_code> converse(
    net::interrupt& interrupt, client_connection& connection, attempt& account, answer& reply,
    std::span<std::byte const>& rest, std::chrono::milliseconds patience)
{
    for (;;) {
        bool full = false;
        if (!rest.empty() || connection.channel.unsent()) {
            net::progress const p = send_some(connection, rest);
            full = p.next == net::wait::writable;
            if (error_code const ec = connection.failure_of_send(p))
                co_return ec;
        }
        net::progress p{.next = net::wait::readable};
        if (connection.socket.entry().readable() || connection.channel.unread())
            p = receive_some(connection, reply);
        account.received(p.bytes);
        if (reply.over())
            co_return error_code{};
        if (p.error)
            co_return p.error;
        if (p.bytes != 0 || (!rest.empty() && !full))
            continue;
        interrupt.expires_in(patience, error::idle_timeout);
        error_code const ec =
            co_await net::ready{interrupt, {&connection.socket.entry(), true, full}};
        if (ec)
            co_return ec;
    }
}

// take_ticket waits for a ticket that comes after the answer: a server can answer early data while
// it waits for the Finished, and gives its tickets after that. Nothing is measured any more.
net::task<error_code> take_ticket(net::interrupt& interrupt, client_connection& connection)
{
    interrupt.expires_in(ticket_patience, error::idle_timeout);
    while (!connection.has_ticket()) {
        if (!connection.socket.entry().readable() && !connection.channel.unread()) {
            error_code const ec = co_await net::ready{interrupt, connection.reading()};
            if (ec)
                co_return ec;
        }
        net::progress const p = connection.receive(net::scratch::of_this_thread().plaintext());
        if (p.error)
            co_return p.error;
    }
    co_return error_code{};
}

// hold_open keeps a connection until the run is cut off, or the server ends it.
net::task<> hold_open(net::interrupt& interrupt, client_connection& connection)
{
    interrupt.clear();
    for (;;) {
        if (!connection.socket.entry().readable() && !connection.channel.unread()) {
            error_code const ec = co_await net::ready{interrupt, connection.reading()};
            if (ec)
                co_return;
        }
        net::progress const p = connection.receive(net::scratch::of_this_thread().plaintext());
        if (p.error)
            co_return;
    }
}

std::span<std::byte const> bytes_of(attempt const& account) noexcept
{
    return std::as_bytes(std::span{account.request()});
}

// request_answer sends the rest of the request and takes the answer. False: the attempt has counted
// a failure.
net::task<bool> request_answer(
    net::interrupt& interrupt, client_connection& connection, attempt& account,
    load_spec const& spec, answer& reply, std::span<std::byte const>& rest)
{
    std::size_t const whole = account.request().size();
    if (rest.empty())
        send_finished(connection);
    account.request_begun(whole, rest.size() != whole);
    error_code const ec =
        co_await converse(interrupt, connection, account, reply, rest, spec.timeouts.answer);
    if (ec) {
        account.failed(ec, connection.channel.engine());
        co_return false;
    }
    if (std::string fault = reply.fault(); !fault.empty()) {
        account.failed(std::move(fault));
        co_return false;
    }
    account.answered();
    co_return true;
}

} // namespace

net::detached transact(worker_load& load, moment intended, unsigned requests)
{
    load_spec const& spec = load.spec();
    attempt account{load, intended};
    net::interrupt interrupt{load.worker()};
    std::optional<client_connection> connection;
    std::size_t early = 0;
    bool const is_there =
        co_await establish(interrupt, load, account, connection, bytes_of(account), early);
    if (!is_there)
        co_return;
    bool const accepted = early != 0;

    for (unsigned sent = 0; spec.keep || sent != requests; ++sent) {
        if (sent != 0) {
            moment const now = std::chrono::steady_clock::now();
            if (!load.take_next(now))
                break;
            account.next_transaction(now);
        }
        std::span<std::byte const> rest = bytes_of(account).subspan(std::exchange(early, 0));
        answer reply{spec.exchange};
        bool const answered =
            co_await request_answer(interrupt, *connection, account, spec, reply, rest);
        if (!answered)
            co_return;
        if (!reply.closes() && rest.empty())
            continue;
        if (spec.keep)
            break;
        if (sent + 1 != requests) {
            account.next_transaction(std::chrono::steady_clock::now());
            co_return account.failed("closed early");
        }
    }

    if (accepted)
        static_cast<void>(co_await take_ticket(interrupt, *connection));

    if (spec.hold)
        co_await hold_open(interrupt, *connection);

    // Close, without waiting for the server's close_notify.
    static_cast<void>(connection->channel.close(connection->socket.entry()));
    if (spec.end == ending::reset)
        connection->socket.reset();
}

net::detached keep_requesting(worker_load& load, alarm due_alarm, kept_turn part)
{
    using clock = std::chrono::steady_clock;
    load_spec const& spec = load.spec();
    kept const& loop = std::get<kept>(spec.loop);
    due_times times{loop, part};
    net::interrupt interrupt{load.worker()};
    std::optional<attempt> account;
    std::optional<client_connection> connection;
    moment free_since = part.begun;
    for (;;) {
        moment const due = times.next();
        if (!load.is_in_time(due))
            break;
        interrupt.clear();
        while (clock::now() < due) {
            due_alarm.set(due);
            error_code const ec = co_await net::ready{interrupt, due_alarm.interest()};
            if (ec)
                co_return;
        }
        if (!load.is_in_time(due))
            break;
        if (account)
            account->due_transaction(due, free_since);
        else
            account.emplace(load, due);
        if (interrupt.raised()) { // The run is cut off, and this request was due.
            account->failed(std::string{unfinished});
            continue;
        }
        if (loop.ends_on_time && !load.is_in_time(clock::now())) {
            account->failed_to_send();
            continue;
        }
        std::size_t early = 0;
        if (!connection) {
            bool const is_there = co_await establish(
                interrupt, load, *account, connection, bytes_of(*account), early);
            if (!is_there)
                connection.reset();
        }
        if (connection) {
            std::span<std::byte const> rest = bytes_of(*account).subspan(early);
            answer reply{spec.exchange};
            bool const answered =
                co_await request_answer(interrupt, *connection, *account, spec, reply, rest);
            if (!answered || reply.closes() || !rest.empty())
                connection.reset();
        }
        free_since = clock::now();
    }
    if (connection)
        static_cast<void>(connection->channel.close(connection->socket.entry()));
}

} // namespace cleat::bench
