#include "generate/client_connection.hpp"

#include <cleat/core/limits.hpp>

#include <cerrno>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

// A request of at most so many bytes leaves in one packet. The last packet of a longer one is not
// full, and Nagle's algorithm would hold it back.
constexpr std::size_t one_packet = 1300;

void set(int fd, int level, int option, int value) noexcept
{
    static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

// A socket that is connecting to the server.
result<unique_fd> dial(worker_load& load) noexcept
{
    load_spec const& spec = load.spec();
    unique_fd fd{::socket(spec.address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    bool const has_many = spec.exchange.requests > 1 || spec.keep ||
                          std::holds_alternative<kept>(spec.loop) || spec.websocket || spec.http2;
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

// finish_handshake continues the handshake from the progress that begin_handshake made.
net::task<error_code> finish_handshake(
    net::interrupt& interrupt, client_connection& connection, load_spec const& spec,
    net::progress p)
{
    while (p.next != net::wait::none) {
        net::interest const what =
            p.next == net::wait::readable ? connection.reading() : connection.writing();
        error_code const ec = co_await net::ready{interrupt, what};
        if (ec)
            co_return ec;
        p = continue_handshake(connection, spec);
    }
    co_return p.error;
}

} // namespace

client_connection::client_connection(net::worker& worker, unique_fd fd, client_identity& client)
    : socket{worker, std::move(fd)}
    , channel{client.context}
    , identity{client}
    , offered{client.sessions.take()}
{
    if (offered)
        channel.engine().resume(offered->session);
}

client_connection::~client_connection()
{
    static_cast<void>(has_ticket());
    if (channel.engine().established())
        identity.sessions.give_back(
            std::move(offered), channel.engine().info().resumed, std::move(given));
}

bool client_connection::has_ticket()
{
    for (tls::session& each : channel.engine().take_sessions())
        given.push_back(std::move(each));
    return !given.empty();
}

net::progress client_connection::receive(std::span<std::byte> block) noexcept
{
    net::readiness::entry& entry = socket.entry();
    bool const ended = entry.ended();
    net::progress p = channel.read(entry, block, limits::turn_max, ended);
    if (reset_found && p.error == error::truncated)
        p.error = reset_found;
    if (p.next == net::wait::none && !p.error)
        entry.more_to_read();
    return p;
}

error_code client_connection::failure_of_send(net::progress const& sent) noexcept
{
    if (!is_reset(sent.error))
        return sent.error;
    // The kernel tells an error once. EPIPE alone says that the server's FIN came before its RST:
    // then the connection has ended, and was not reset.
    if (sent.error == boost::system::errc::connection_reset)
        reset_found = sent.error;
    socket.entry().more_to_read();
    return {};
}

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
        refused = co_await net::ready{interrupt, connection.writing()};
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

} // namespace cleat::bench
