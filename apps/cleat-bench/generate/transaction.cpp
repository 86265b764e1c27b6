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

// A request of at most so many bytes leaves in one packet. The last packet of a longer one is not
// full, and Nagle's algorithm would hold it back.
constexpr std::size_t one_packet = 1300;

// A ticket follows the Finished by one round trip. A server that gave one before gives one again,
// or closes.
constexpr std::chrono::milliseconds ticket_patience{250};

// client_connection gives its sessions to its identity's pool when it ends.
struct client_connection
{
    client_connection(net::worker& worker, unique_fd fd, client_identity& client)
        : socket{worker, std::move(fd)}
        , channel{client.context}
        , identity{client}
        , offered{client.sessions.take()}
    {
        if (offered)
            channel.engine().resume(offered->session);
    }
    client_connection(client_connection&&) = delete;
    ~client_connection()
    {
        static_cast<void>(has_ticket());
        if (channel.engine().established())
            identity.sessions.give_back(
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
    client_identity& identity;
    std::optional<session_pool::held> offered;
    std::vector<tls::session> given;
};

void set(int fd, int level, int option, int value) noexcept
{
    static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

// due_times gives the moments at which a kept connection sends its requests.
class due_times
{
public:
    due_times(kept const& loop, kept_turn const& part)
        : gaps_{loop.gaps}, period_{loop.period}, next_{part.begun}, random_{part.seed}
    {
        if (gaps_ == kept_gaps::constant)
            next_ += part.turn;
    }

    [[nodiscard]] moment next()
    {
        if (gaps_ == kept_gaps::poisson) {
            std::exponential_distribution<double> gap{1.0};
            double const length = gap(random_) * static_cast<double>(period_.count());
            return next_ += std::chrono::nanoseconds{static_cast<std::int64_t>(length)};
        }
        std::uniform_int_distribution<std::int64_t> offset{0, period_.count() - 1};
        std::int64_t const later = gaps_ == kept_gaps::constant ? 0 : offset(random_);
        return std::exchange(next_, next_ + period_) + std::chrono::nanoseconds{later};
    }

private:
    kept_gaps gaps_;
    std::chrono::nanoseconds period_;
    moment next_; // Of the next period; of Poisson's, the last due moment.
    std::mt19937_64 random_;
};

// A socket that is connecting to the server.
result<unique_fd> dial(worker_load& load) noexcept
{
    load_spec const& spec = load.spec();
    unique_fd fd{::socket(spec.address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    bool const has_many =
        spec.exchange.requests > 1 || spec.keep || std::holds_alternative<kept>(spec.loop);
    if (spec.exchange.request.size() > one_packet || has_many || spec.finished_alone)
        net::set_no_delay(fd.get());
    if (net::address const* const source = load.next_source(); source != nullptr) {
        // The kernel chooses the port at connect: connections to different servers may share one.
        set(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        if (::bind(fd.get(), source->data(), source->size) != 0)
            return last_system_error();
    }
    if (::connect(fd.get(), spec.address.data(), spec.address.size) != 0 && errno != EINPROGRESS)
        return last_system_error();
    return fd;
}

// On this machine, and to a near server, TCP is connected when connect returns, although connect
// says EINPROGRESS.
bool is_connected(int fd) noexcept
{
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

net::interest reading(client_connection& connection) noexcept
{
    return {&connection.socket.entry(), true, false};
}

net::interest writing(client_connection& connection) noexcept
{
    return {&connection.socket.entry(), false, true};
}

net::progress continue_handshake(client_connection& connection, load_spec const& spec) noexcept
{
    using last_flight = net::channel::last_flight;
    net::readiness::entry& entry = connection.socket.entry();
    bool const ended = entry.ended();
    return connection.channel.handshake(
        entry, ended, spec.finished_alone ? last_flight::at_once : last_flight::with_first_write);
}

// begin_handshake sends the ClientHello, and with it as much of the request as may be early data:
// `early`.
net::progress begin_handshake(
    client_connection& connection, load_spec const& spec, std::span<std::byte const> request,
    std::size_t& early) noexcept
{
    if (spec.early_data && connection.offered) {
        net::channel::piece const pieces[] = {request};
        net::progress const p = connection.channel.write_early(connection.socket.entry(), pieces);
        early = p.bytes;
        if (p.error || p.next != net::wait::none)
            return p;
    }
    return continue_handshake(connection, spec);
}

// send_finished sends the client's Finished, where no first write takes it along. Bytes that the
// socket does not take go later; a failure is found by reading.
void send_finished(client_connection& connection) noexcept
{
    static_cast<void>(connection.channel.flush(connection.socket.entry()));
}

// send_some writes as much of `rest` as the socket takes, and moves its front.
net::progress send_some(client_connection& connection, std::span<std::byte const>& rest) noexcept
{
    net::channel::piece const pieces[] = {rest};
    net::progress const p = connection.channel.write(connection.socket.entry(), pieces);
    rest = rest.subspan(p.bytes);
    return p;
}

net::progress receive(client_connection& connection, std::span<std::byte> block)
{
    net::readiness::entry& entry = connection.socket.entry();
    bool const ended = entry.ended();
    net::progress const p = connection.channel.read(entry, block, limits::turn_max, ended);
    if (p.next == net::wait::none && !p.error)
        entry.more_to_read();
    return p;
}

// receive_some reads once into the answer, which decides whether a clean end is an error.
net::progress receive_some(client_connection& connection, answer& reply)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    net::progress const p = receive(connection, block);
    reply.take(block.first(p.bytes));
    if (p.error == error::closed)
        reply.end();
    return p;
}

// finish_handshake continues the handshake from the progress that begin_handshake made.
net::task<error_code> finish_handshake(
    net::interrupt& interrupt, client_connection& connection, load_spec const& spec,
    net::progress p)
{
    while (p.next != net::wait::none) {
        net::interest const what =
            p.next == net::wait::readable ? reading(connection) : writing(connection);
        error_code const ec = co_await net::ready{interrupt, what};
        if (ec)
            co_return ec;
        p = continue_handshake(connection, spec);
    }
    co_return p.error;
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
            if (p.error && !is_reset(p.error)) // After a reset, reading finds what came before.
                co_return p.error;
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
            error_code const ec = co_await net::ready{interrupt, reading(connection)};
            if (ec)
                co_return ec;
        }
        net::progress const p = receive(connection, net::scratch::of_this_thread().plaintext());
        if (p.error)
            co_return p.error;
    }
    co_return error_code{};
}

std::span<std::byte const> bytes_of(attempt const& account) noexcept
{
    return std::as_bytes(std::span{account.request()});
}

// establish connects and shakes hands. False: it failed, and the attempt has counted that. `early`
// is how much of the request the server has taken as early data.
net::task<bool> establish(
    net::interrupt& interrupt, worker_load& load, attempt& account,
    std::optional<client_connection>& made, std::span<std::byte const> request, std::size_t& early)
{
    load_spec const& spec = load.spec();

    // Connect. The ClientHello is made meanwhile, and written at once: to a near server, that saves
    // a pass of the event loop.
    interrupt.expires_in(spec.timeouts.connect, error::connect_timeout);
    result<unique_fd> dialled = dial(load);
    if (!dialled) {
        account.failed_to_start(dialled.error());
        co_return false;
    }
    bool const connected = is_connected(dialled->get());
    if (connected)
        account.connected();
    client_connection& connection =
        made.emplace(load.worker(), std::move(*dialled), load.choose_identity());
    net::progress const begun = begin_handshake(connection, spec, request, early);
    error_code refused;
    if (connection.channel.unsent() && !connected) {
        refused = co_await net::ready{interrupt, writing(connection)};
        if (!refused)
            refused = connection.socket.error();
    } else if (begun.error && begun.error.category() == boost::system::system_category()) {
        refused = begun.error;
    }
    if (refused) {
        account.failed_to_connect(refused);
        co_return false;
    }
    if (!connected)
        account.connected();

    // Shake hands.
    interrupt.expires_in(spec.timeouts.handshake, error::handshake_timeout);
    error_code const ec = co_await finish_handshake(interrupt, connection, spec, begun);
    if (ec) {
        account.failed(ec, connection.channel.engine());
        co_return false;
    }
    account.handshake_done(connection.channel.engine().info(), connection.offered.has_value());
    if (connection.channel.engine().info().early != tls::early_data::accepted)
        early = 0; // The server has not read it: all of it is sent again.
    co_return true;
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

    if (spec.hold) {
        interrupt.clear();
        static_cast<void>(co_await net::pause(interrupt));
    }

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
