// handshake: a client's TLS handshake, from its first byte to its end.

#pragma once

#include "connection/connection_log.hpp"
#include "connection/handshake_phases.hpp"
#include "limits/half_open.hpp"
#include "relay/client_side.hpp"
#include "worker/handshake_sources.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker_certificates.hpp>
#include <cleat/net/worker_sessions.hpp>

namespace cleat::app {

/// handshake gives no error once the connection is established. The caller sets the deadline, in
/// `interrupt`. log: null where nothing is counted. hello: see handshake_phases.
inline net::task<error_code> handshake(
    net::interrupt& interrupt, client_side& client, handshake_sources sources,
    connection_log* log = nullptr, handshake_phases::time_point hello = {})
{
    half_open unfinished{sources.half_open, interrupt};
    handshake_phases phases{hello};
    if (log != nullptr)
        log->handshake_begins(client.channel.engine());
    for (;;) {
        net::readiness::entry& entry = client.socket.entry();
        net::progress const p = client.channel.handshake(entry, entry.ended());
        if (p.error)
            co_return p.error;
        if (p.next == net::wait::none) {
            if (log != nullptr)
                log->handshake_done(client.channel.engine(), phases);
            co_return error_code{};
        }
        phases.note(interrupt.worker(), p, client.channel.engine());
        if (client.channel.engine().has_received())
            unfinished.on_input();
        if (p.next == net::wait::certificate) {
            error_code const ended = co_await net::worker_certificates::arrival{
                *sources.certificates, interrupt, *client.channel.engine().wanted_certificate()};
            if (ended)
                co_return ended;
            continue;
        }
        if (p.next == net::wait::session) {
            error_code const ended =
                co_await net::worker_sessions::answer{*sources.sessions, interrupt};
            if (ended)
                co_return ended;
            continue;
        }
        net::interest const interest{
            &entry, p.next == net::wait::readable, p.next == net::wait::writable};
        error_code const interrupted = co_await net::ready{interrupt, interest};
        if (interrupted)
            co_return interrupted;
    }
}

} // namespace cleat::app
