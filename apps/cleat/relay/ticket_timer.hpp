// ticket_timer: sends a session ticket alone if no answer comes soon that it could share a packet
// with.

#pragma once

#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>

namespace cleat::app {

/// ticket_timer sends the session ticket that the channel holds back after a TLS 1.3 handshake, if
/// neither an answer nor more of the client's bytes come within limits::ticket_delay.
///
/// Why wait: most requests come with the client's Finished or right after it, and are answered
/// soon. The ticket then shares the answer's packet.
///
/// Why not wait for ever: a client with Nagle's algorithm may send its Finished alone, and its
/// request only once the Finished is acknowledged (RFC 1122, section 4.2.3.4). Our kernel delays an
/// acknowledgment by up to 40 ms unless bytes of ours carry it: the ticket is such bytes. And a
/// client that only makes a handshake would get no ticket.
class ticket_timer : deadline
{
public:
    /// Both belong to one connection, and outlive the timer.
    ticket_timer(net::socket& socket, net::channel& channel) noexcept;

    /// begin starts the timer when the handshake is done.
    void begin();

    /// stop: no ticket in a packet of its own. Either it goes with the answer that is being sent,
    /// or a request has come, and its answer will carry it.
    void stop() noexcept { cancel(); }

private:
    static void on_expired(deadline& d) noexcept;

    net::socket& socket_;
    net::channel& channel_;
};

} // namespace cleat::app
