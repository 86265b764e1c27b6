// connect_race: a connect to a server that has addresses of both families.

#pragma once

#include "connect_steps.hpp"
#include "upstream/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// race waits until the socket, which is connecting to the choice's address, is connected. After
/// limits::attempt_delay the choice's rival is tried beside it (RFC 8305, section 5). The first
/// that is connected wins: `socket` and the choice's address are then its own, and the other one is
/// closed. It has not failed. Where one fails the other one goes on. The error is the last one's,
/// or the interrupt's.
///
/// The two have the time of two addresses together. The deadline of a socket that is connected
/// before the delay is over is cleared.
net::task<error_code> race(upstream_choice& choice, connect_time const& time, net::socket& socket);

} // namespace cleat::app
