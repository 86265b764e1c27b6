#include "answer.hpp"
#include "attempt.hpp"
#include "transaction.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket.hpp>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

// A request up to here leaves as one packet, or as full ones and a last that waits for no one.
constexpr std::size_t one_packet = 1300;

// A ticket follows the Finished by one round trip. Who gave one before gives one again, or closes.
constexpr std::chrono::milliseconds ticket_patience{250};

// peer is the connection itself. Its session goes back to the pool with it.
struct peer
{
    peer(net::worker& on, unique_fd fd, persona& role)
        : socket{on, std::move(fd)}, channel{role.context}, as{role}, offered{role.sessions.take()}
    {
        if (offered)
            channel.engine().resume(offered->session);
    }
    peer(peer&&) = delete;
    ~peer()
    {
        static_cast<void>(has_ticket());
        if (channel.engine().established())
            as.sessions.give_back(
                std::move(offered), channel.engine().info().resumed, std::move(given));
    }

    // has_ticket: the server has given a session on this connection.
    [[nodiscard]] bool has_ticket()
    {
        for (tls::session& each : channel.engine().take_sessions())
            given.push_back(std::move(each));
        return !given.empty();
    }

    net::socket socket;
    net::channel channel;
    persona& as;
    std::optional<session_pool::held> offered;
    std::vector<tls::session> given;
};

void set(int fd, int level, int option, int value) noexcept
{
    static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

// A socket on its way to the target.
result<unique_fd> dial(generator& of) noexcept
{
    load_spec const& use = of.use();
    unique_fd fd{::socket(use.to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    if (use.say.request.size() > one_packet || use.say.requests > 1)
        net::set_no_delay(fd.get());
    if (net::address const* const from = of.source(); from != nullptr) {
        // The port is chosen at connect, when the kernel can tell whose other end it may share.
        set(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        if (::bind(fd.get(), from->data(), from->size) != 0)
            return last_system_error();
    }
    if (::connect(fd.get(), use.to.data(), use.to.size) != 0 && errno != EINPROGRESS)
        return last_system_error();
    return fd;
}

// On this machine, and where the other side is near, TCP is there when connect returns, though it
// says EINPROGRESS.
bool is_connected(int fd) noexcept
{
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

net::interest reading(peer& of) noexcept
{
    return {&of.socket.entry(), true, false};
}

net::interest writing(peer& of) noexcept
{
    return {&of.socket.entry(), false, true};
}

net::progress shake(peer& with) noexcept
{
    net::readiness::entry& entry = with.socket.entry();
    bool const ended = entry.ended();
    return with.channel.handshake(entry, ended, net::channel::last_flight::with_first_write);
}

// begin says the ClientHello, and with it as much of the request as may be early data: `early`.
net::progress begin(
    peer& with, load_spec const& use, std::span<std::byte const> request,
    std::size_t& early) noexcept
{
    if (use.early_data && with.offered) {
        net::channel::piece const pieces[] = {request};
        net::progress const p = with.channel.write_early(with.socket.entry(), pieces);
        early = p.bytes;
        if (p.error || p.next != net::wait::none)
            return p;
    }
    return shake(with);
}

// send_finished sends what ends the handshake, where no first write takes it along. What the socket
// does not take goes later; a failure is found by reading.
void send_finished(peer& to) noexcept
{
    static_cast<void>(to.channel.flush(to.socket.entry()));
}

// send_some writes what the socket takes of `rest`, and moves its front.
net::progress send_some(peer& to, std::span<std::byte const>& rest) noexcept
{
    net::channel::piece const pieces[] = {rest};
    net::progress const p = to.channel.write(to.socket.entry(), pieces);
    rest = rest.subspan(p.bytes);
    return p;
}

net::progress receive(peer& from, std::span<std::byte> block)
{
    net::readiness::entry& entry = from.socket.entry();
    bool const ended = entry.ended();
    net::progress const p = from.channel.read(entry, block, limits::turn_max, ended);
    if (p.next == net::wait::none && !p.error)
        entry.more_to_read();
    return p;
}

// receive_some reads once into the answer. The clean end is the answer's to judge, not an error.
net::progress receive_some(peer& from, answer& into)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = receive(from, block);
    into.take(block.first(p.bytes));
    if (p.error == error::closed)
        into.end();
    return p;
}

// shake_hands goes on with what connecting has begun.
net::task<error_code> shake_hands(net::interrupt& by, peer& with, net::progress p)
{
    while (p.next != net::wait::none) {
        net::interest const what = p.next == net::wait::readable ? reading(with) : writing(with);
        error_code const ec = co_await net::ready{by, what};
        if (ec)
            co_return ec;
        p = shake(with);
    }
    co_return p.error;
}

// converse sends the request and takes the answer, which may begin before the last byte of a long
// request has left: who would not read meanwhile could wait for an echo for ever, and it for us.
net::task<error_code> converse(
    net::interrupt& by, peer& with, attempt& told, answer& got, std::span<std::byte const>& rest,
    std::chrono::milliseconds patience)
{
    for (;;) {
        bool full = false;
        if (!rest.empty() || with.channel.unsent()) {
            net::progress const p = send_some(with, rest);
            full = p.next == net::wait::writable;
            if (p.error && !is_reset(p.error)) // After a reset, reading tells what came before.
                co_return p.error;
        }
        net::progress p{.next = net::wait::readable};
        if (with.socket.entry().readable() || with.channel.unread())
            p = receive_some(with, got);
        told.received(p.bytes);
        if (got.over())
            co_return error_code{};
        if (p.error)
            co_return p.error;
        if (p.bytes != 0 || (!rest.empty() && !full))
            continue;
        by.expires_in(patience, error::idle_timeout);
        error_code const ec = co_await net::ready{by, {&with.socket.entry(), true, full}};
        if (ec)
            co_return ec;
    }
}

// take_ticket waits for a ticket that the answer has overtaken: a server can answer early data
// while it waits for the Finished, and gives its tickets after that. What is measured is over by
// then.
net::task<error_code> take_ticket(net::interrupt& by, peer& with)
{
    by.expires_in(ticket_patience, error::idle_timeout);
    while (!with.has_ticket()) {
        if (!with.socket.entry().readable() && !with.channel.unread()) {
            error_code const ec = co_await net::ready{by, reading(with)};
            if (ec)
                co_return ec;
        }
        net::progress const p = receive(with, net::scratch::of_this_thread().plaintext());
        if (p.error)
            co_return p.error;
    }
    co_return error_code{};
}

} // namespace

net::detached transact(generator& of, moment intended, unsigned requests)
{
    load_spec const& use = of.use();
    attempt told{of, intended};
    net::interrupt by{of.on()};

    // Connect. The ClientHello is made meanwhile, and tried at once: where the other side is near,
    // a trip through the event loop is saved.
    by.expires_in(use.timeouts.connect, error::connect_timeout);
    result<unique_fd> dialled = dial(of);
    if (!dialled)
        co_return told.failed_to_start(dialled.error());
    bool const at_once = is_connected(dialled->get());
    if (at_once)
        told.connected();
    peer to{of.on(), std::move(*dialled), of.choose()};
    std::span<std::byte const> const request = std::as_bytes(std::span{use.say.request});
    std::size_t early = 0;
    net::progress const begun = begin(to, use, request, early);
    if (to.channel.unsent() && !at_once) {
        error_code ec = co_await net::ready{by, writing(to)};
        if (!ec)
            ec = to.socket.error();
        if (ec)
            co_return told.failed_to_connect(ec);
    } else if (begun.error && begun.error.category() == boost::system::system_category()) {
        co_return told.failed_to_connect(begun.error);
    }
    if (!at_once)
        told.connected();

    // Shake hands.
    by.expires_in(use.timeouts.handshake, error::handshake_timeout);
    error_code ec = co_await shake_hands(by, to, begun);
    if (ec)
        co_return told.failed(ec, to.channel.engine());
    told.shaken(to.channel.engine().info(), to.offered.has_value());
    bool const accepted =
        early != 0 && to.channel.engine().info().early == tls::early_data::accepted;
    if (!accepted)
        early = 0; // The server has not read it: all of it is said again.

    // Ask, and take the answer, as often as was asked for.
    for (unsigned asked = 0; asked != requests; ++asked) {
        if (asked != 0)
            told.asks_again();
        std::size_t const said = std::exchange(early, 0);
        std::span<std::byte const> rest = request.subspan(said);
        answer got{use.say};
        if (rest.empty())
            send_finished(to);
        told.asking(request.size(), said != 0);
        ec = co_await converse(by, to, told, got, rest, use.timeouts.answer);
        if (ec)
            co_return told.failed(ec, to.channel.engine());
        if (std::string fault = got.fault(); !fault.empty())
            co_return told.failed(std::move(fault));
        told.answered();
        if ((got.closes() || !rest.empty()) && asked + 1 != requests) {
            told.asks_again();
            co_return told.failed("closed early");
        }
    }

    if (accepted)
        static_cast<void>(co_await take_ticket(by, to));

    if (use.hold) {
        by.clear();
        static_cast<void>(co_await net::pause(by));
    }

    // Close. Nobody waits for what the server says to that.
    static_cast<void>(to.channel.close(to.socket.entry()));
    if (use.end == ending::reset)
        to.socket.reset();
}

} // namespace cleat::bench
