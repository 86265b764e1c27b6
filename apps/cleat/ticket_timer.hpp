// ticket_timer: a client has its session ticket soon, also where nothing takes it along.

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
/// keeps its request back until that is acknowledged (RFC 1122, section 4.2.3.4), and our kernel
/// delays the acknowledgment for up to 40 ms unless bytes of ours carry it: the ticket is such
/// bytes. And a client that only shakes hands has no ticket otherwise.
class ticket_timer : deadline
{
public:
    /// Both belong to one connection, and outlive this.
    ticket_timer(net::socket& to, net::channel& of) noexcept;

    /// begin, when the handshake is done.
    void begin();

    /// stop: an answer takes the ticket along, or the client's request has come, and one will.
    void stop() noexcept { cancel(); }

private:
    static void on_expired(deadline& d) noexcept;

    net::socket& socket_;
    net::channel& channel_;
};

} // namespace cleat::app
