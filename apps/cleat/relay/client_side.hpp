// client_side: the TLS side of a connection.

#pragma once

#include "relay/ticket_timer.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>

namespace cleat::app {

/// client_side is the TLS side of a connection.
struct client_side
{
    net::socket socket;
    net::channel channel;
    error_code early_end{}; ///< The end of the client's stream, if first_bytes has read that far.
    ticket_timer ticket{socket, channel};
};

} // namespace cleat::app
