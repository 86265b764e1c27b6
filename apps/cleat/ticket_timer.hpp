// ticket_timer: sends a session ticket that no other bytes have taken along.

#pragma once

#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>

namespace cleat::app {

/// ticket_timer sends the session ticket that a TLS 1.3 handshake has left in its channel, where
/// neither an answer nor more of the client's bytes come within limits::ticket_delay.
///
/// A request that came with the client's Finished, or right behind it, is answered soon, and the
/// ticket shares that packet. But a client with Nagle's algorithm on that writes its Finished alone
/// keeps its request back until the Finished is acknowledged (RFC 1122, section 4.2.3.4). Our
/// kernel delays the acknowledgment for up to 40 ms unless bytes of ours carry it, and the ticket
/// is such bytes. A client that only does a handshake would get no ticket without the timer.
class ticket_timer : deadline
{
public:
    /// Both belong to one connection, and outlive the timer.
    ticket_timer(net::socket& socket, net::channel& channel) noexcept;

    /// begin starts the timer when the handshake is done.
    void begin();

    /// stop: an answer takes the ticket along, or the client's request has come and its answer
    /// will.
    void stop() noexcept { cancel(); }

private:
    static void on_expired(deadline& d) noexcept;

    net::socket& socket_;
    net::channel& channel_;
};

} // namespace cleat::app
