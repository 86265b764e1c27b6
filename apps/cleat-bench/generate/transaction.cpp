#include "generate/answer.hpp"
#include "generate/attempt.hpp"
#include "generate/transaction.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket.hpp>

#include <cerrno>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <string_view>
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
    bool const asks_again = use.say.requests > 1 || std::holds_alternative<kept>(use.arrive);
    if (use.say.request.size() > one_packet || asks_again || use.finished_alone)
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

net::progress shake(peer& with, load_spec const& use) noexcept
{
    using last_flight = net::channel::last_flight;
    net::readiness::entry& entry = with.socket.entry();
    bool const ended = entry.ended();
    return with.channel.handshake(
        entry, ended, use.finished_alone ? last_flight::at_once : last_flight::with_first_write);
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
    return shake(with, use);
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
net::task<error_code> shake_hands(
    net::interrupt& by, peer& with, load_spec const& use, net::progress p)
{
    while (p.next != net::wait::none) {
        net::interest const what = p.next == net::wait::readable ? reading(with) : writing(with);
        error_code const ec = co_await net::ready{by, what};
        if (ec)
            co_return ec;
        p = shake(with, use);
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

// establish connects and shakes hands. False: it failed, and the attempt has counted that. `early`
// is how much of the request the server has taken as early data.
net::task<bool> establish(
    net::interrupt& by, generator& of, attempt& told, std::optional<peer>& made,
    std::span<std::byte const> request, std::size_t& early)
{
    load_spec const& use = of.use();

    // Connect. The ClientHello is made meanwhile, and tried at once: where the other side is near,
    // a trip through the event loop is saved.
    by.expires_in(use.timeouts.connect, error::connect_timeout);
    result<unique_fd> dialled = dial(of);
    if (!dialled) {
        told.failed_to_start(dialled.error());
        co_return false;
    }
    bool const at_once = is_connected(dialled->get());
    if (at_once)
        told.connected();
    peer& to = made.emplace(of.on(), std::move(*dialled), of.choose());
    net::progress const begun = begin(to, use, request, early);
    error_code refused;
    if (to.channel.unsent() && !at_once) {
        refused = co_await net::ready{by, writing(to)};
        if (!refused)
            refused = to.socket.error();
    } else if (begun.error && begun.error.category() == boost::system::system_category()) {
        refused = begun.error;
    }
    if (refused) {
        told.failed_to_connect(refused);
        co_return false;
    }
    if (!at_once)
        told.connected();

    // Shake hands.
    by.expires_in(use.timeouts.handshake, error::handshake_timeout);
    error_code const ec = co_await shake_hands(by, to, use, begun);
    if (ec) {
        told.failed(ec, to.channel.engine());
        co_return false;
    }
    told.shaken(to.channel.engine().info(), to.offered.has_value());
    if (to.channel.engine().info().early != tls::early_data::accepted)
        early = 0; // The server has not read it: all of it is said again.
    co_return true;
}

// ask sends what is left of the request and takes the answer. False: the attempt has counted a
// failure.
net::task<bool> ask(
    net::interrupt& by, peer& to, attempt& told, load_spec const& use, answer& got,
    std::span<std::byte const>& rest)
{
    std::size_t const whole = use.say.request.size();
    if (rest.empty())
        send_finished(to);
    told.asking(whole, rest.size() != whole);
    error_code const ec = co_await converse(by, to, told, got, rest, use.timeouts.answer);
    if (ec) {
        told.failed(ec, to.channel.engine());
        co_return false;
    }
    if (std::string fault = got.fault(); !fault.empty()) {
        told.failed(std::move(fault));
        co_return false;
    }
    told.answered();
    co_return true;
}

} // namespace

net::detached transact(generator& of, moment intended, unsigned requests)
{
    load_spec const& use = of.use();
    attempt told{of, intended};
    net::interrupt by{of.on()};
    std::span<std::byte const> const request = std::as_bytes(std::span{use.say.request});
    std::optional<peer> to;
    std::size_t early = 0;
    bool const is_there = co_await establish(by, of, told, to, request, early);
    if (!is_there)
        co_return;
    bool const accepted = early != 0;

    // Ask, and take the answer, as often as was asked for.
    for (unsigned asked = 0; asked != requests && (asked == 0 || of.asks_on()); ++asked) {
        if (asked != 0)
            told.asks_again();
        std::span<std::byte const> rest = request.subspan(std::exchange(early, 0));
        answer got{use.say};
        bool const answered = co_await ask(by, *to, told, use, got, rest);
        if (!answered)
            co_return;
        if ((got.closes() || !rest.empty()) && asked + 1 != requests) {
            told.asks_again();
            co_return told.failed("closed early");
        }
    }

    if (accepted)
        static_cast<void>(co_await take_ticket(by, *to));

    if (use.hold) {
        by.clear();
        static_cast<void>(co_await net::pause(by));
    }

    // Close. Nobody waits for what the server says to that.
    static_cast<void>(to->channel.close(to->socket.entry()));
    if (use.end == ending::reset)
        to->socket.reset();
}

net::detached keep_asking(
    generator& of, alarm bell, moment begun, std::chrono::nanoseconds every, std::uint64_t seed)
{
    using clock = std::chrono::steady_clock;
    load_spec const& use = of.use();
    std::mt19937_64 random{seed};
    std::uniform_int_distribution<std::int64_t> within{0, every.count() - 1};
    std::span<std::byte const> const request = std::as_bytes(std::span{use.say.request});
    net::interrupt by{of.on()};
    std::optional<attempt> told;
    std::optional<peer> to;
    moment free = begun;
    for (moment stretch = begun;; stretch += every) {
        moment const due = stretch + std::chrono::nanoseconds{within(random)};
        if (!of.may_ask(due))
            break;
        by.clear();
        while (clock::now() < due) {
            bell.set(due);
            error_code const ec = co_await net::ready{by, bell.rings()};
            if (ec)
                co_return;
        }
        if (!of.may_ask(due))
            break;
        if (told)
            told->asks_when_due(due, free);
        else
            told.emplace(of, due);
        if (by.raised()) { // The run is cut off, and this one was due.
            told->failed(std::string{unfinished});
            continue;
        }
        std::size_t early = 0;
        if (!to) {
            bool const is_there = co_await establish(by, of, *told, to, request, early);
            if (!is_there)
                to.reset();
        }
        if (to) {
            std::span<std::byte const> rest = request.subspan(early);
            answer got{use.say};
            bool const answered = co_await ask(by, *to, *told, use, got, rest);
            if (!answered || got.closes() || !rest.empty())
                to.reset();
        }
        free = clock::now();
    }
    if (to)
        static_cast<void>(to->channel.close(to->socket.entry()));
}

} // namespace cleat::bench
