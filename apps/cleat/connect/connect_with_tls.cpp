#include "connect/connect_race.hpp"
#include "connect/connect_steps.hpp"
#include "connect/connect_with_tls.hpp"
#include "upstream_tls/client_handshake.hpp"
#include "upstream_tls/protocol_agreement.hpp"
#include "upstream_tls/upstream_tls.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/handshake_info.hpp>
#include <cleat/tls/session.hpp>

#include <optional>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {
namespace {

bool is_connected(int socket) noexcept
{
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    return ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

// The handshake's outcome, by name.
error_code judge(
    error_code failed, upstream_tls const& tls, net::channel const& channel,
    std::string_view client_protocol)
{
    bool const is_clients = tls.plan().offers_clients_protocol && !client_protocol.empty();
    constexpr int no_application_protocol = 120; // RFC 7301, section 3.2.
    if (is_clients && failed == error::peer_alert &&
        channel.engine().failure().peer_alert == no_application_protocol)
        return error::alpn_mismatch;
    if (failed)
        return name_fault(failed, channel.engine().failure());
    if (is_clients && !is_agreement(client_protocol, channel.engine().info().alpn))
        return error::alpn_mismatch;
    return {};
}

// Gives the outcome to the log, and by name to the caller. A handshake that the interrupt has ended
// is logged only if its time was over.
error_code log_handshake(
    error_code failed, net::interrupt const& interrupt, upstream_choice& choice,
    tls_upstream const& upstream, std::string_view client_protocol, connection_log& log)
{
    if (error_code const raised = interrupt.raised()) {
        if (raised == error::connect_timeout && is_connected(upstream.socket.native_handle()))
            log.upstream_handshake(raised, choice.name(), upstream.channel.engine());
        return raised;
    }
    error_code const why = judge(failed, *choice.tls(), upstream.channel, client_protocol);
    log.upstream_handshake(why, choice.name(), upstream.channel.engine());
    return why;
}

} // namespace

net::task<result<tls_upstream>> connect_with_tls(
    net::interrupt& interrupt, upstream_choice& choice, tls_greeting greeting,
    std::chrono::milliseconds timeout, connection_log& log)
{
    error_code why = error::no_server;
    upstream_tls& tls = *choice.tls();
    connect_time time{interrupt, timeout};
    while (choice.next() != nullptr || choice.lacks_port()) {
        if (choice.has_server())
            if (std::optional<tls_upstream> ready = choice.take_tls()) {
                choice.answered();
                co_return std::move(*ready);
            }
        result<net::socket> started = make_error_code(boost::system::errc::not_connected);
        if (!start_at_once(choice, time, started))
            started = co_await start_in_turn(choice, time);
        if (!started) {
            why = started.error();
            if (!goes_on(interrupt, choice, why))
                co_return why;
            continue;
        }
        tls::session const offered = tls.sessions(choice.server_number()).take();
        tls_upstream upstream{
            std::move(*started),
            new_channel(tls, choice.tls_name(), greeting.client_protocol, offered),
            &tls.sessions(choice.server_number())};
        error_code failed;
        if (choice.rival() != nullptr) {
            failed = co_await race(choice, time, upstream.socket);
            if (!failed) // The handshake gets a part of the time that is left.
                time.limit(choice.others() + 1);
        }
        if (!failed)
            failed = co_await shake_hands(
                interrupt, upstream.socket, upstream.channel,
                net::channel::last_flight::with_first_write, greeting.clear);
        why = log_handshake(failed, interrupt, choice, upstream, greeting.client_protocol, log);
        if (!why) {
            choice.answered();
            co_return std::move(upstream);
        }
        if (why != error::alpn_mismatch)
            tls.sessions(choice.server_number()).drop(offered);
        if (!goes_on(interrupt, choice, why))
            co_return why;
    }
    co_return why;
}

} // namespace cleat::app
