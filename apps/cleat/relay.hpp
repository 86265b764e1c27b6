// relay: the two-way copy between a TLS client and its upstream.

#pragma once

#include "close_reason.hpp"
#include "ticket_timer.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <cstdint>

namespace cleat::app {

/// client is the TLS side of a connection.
struct client
{
    net::socket socket;
    net::channel channel;
    error_code early_end{}; ///< The end of its stream, when it was read with the first bytes.
    ticket_timer ticket{socket, channel};
};

/// upstream is the plaintext side.
struct upstream
{
    net::socket socket;
    byte_queue unsent;       ///< What its socket did not take yet.
    std::uint32_t sends = 0; ///< Nagle's algorithm is turned off before the second send.

    /// send takes all of the bytes: what the socket does not take is kept. True: the socket is
    /// full. `ec` is set when the connection is broken.
    [[nodiscard]] bool send(std::span<std::byte const> bytes, error_code& ec) noexcept;

    /// flush sends what was kept; true while the socket is full.
    [[nodiscard]] bool flush(error_code& ec) noexcept;
};

/// traffic counts plaintext bytes.
struct traffic
{
    std::uint64_t up = 0;
    std::uint64_t down = 0;
};

/// relay_outcome is how a relay ended; the error is the one behind a reason that is a failure.
struct relay_outcome
{
    close_reason reason = close_reason::done;
    error_code error{};
};

/// relay_deadlines are how long a relay waits for the next byte, and for a client's close.
struct relay_deadlines
{
    std::chrono::milliseconds idle{}; ///< 0: none.
    std::chrono::milliseconds linger = limits::linger_timeout;
};

/// relay copies both ways until both sides have closed or one has broken. Bounded memory: a sink
/// that is full stops its source, and holds at most limits::unsent_max.
net::task<relay_outcome> relay(
    net::interrupt& by, client& from, upstream& to, relay_deadlines within, traffic& moved);

} // namespace cleat::app
