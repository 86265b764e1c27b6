// connect: finds an upstream that accepts, and sends it the first bytes.

#pragma once

#include "relay/upstream_side.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <span>

namespace cleat::app {

/// connect tries the addresses of the choice until one accepts a connection, and sends `first` to
/// it. Bytes that the socket does not take at once are left in upstream_side::unsent. `first` is
/// copied before the first wait. The error is that of the last address, or the interrupt's.
///
/// All addresses together have `timeout`; zero: no limit. Each address gets an equal part of the
/// time that is left, so that the next is tried even if one drops all packets. While the last
/// server is a UNIX socket whose backlog is full, connections wait in its connect_queue.
net::task<result<upstream_side>> connect(
    net::interrupt& interrupt, upstream_choice& choice, std::span<std::byte const> first,
    std::chrono::milliseconds timeout);

} // namespace cleat::app
