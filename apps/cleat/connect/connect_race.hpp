// connect_race: a connect to a server that has addresses of both families.

#pragma once

#include "connect/connect_steps.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// race waits until the socket, which is connecting to the choice's address, is connected. After
/// limits::attempt_delay the choice's rival, an address of the other family, is tried beside it
/// (RFC 8305, section 5). The first that connects wins: `socket` and the choice's address are then
/// those of the winner. The other socket is closed, and its address does not count as failed. Where
/// one fails, the other goes on. The error is that of the last one to fail, or the interrupt's.
///
/// Both together have the time of two addresses. Where the socket connects before the delay is
/// over, its deadline is cleared.
net::task<error_code> race(upstream_choice& choice, connect_time const& time, net::socket& socket);

} // namespace cleat::app
