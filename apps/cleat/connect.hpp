// connect: finds an upstream that accepts, and sends it the first bytes.

#pragma once

#include "connect_queue.hpp"
#include "upstream_side.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <span>
#include <vector>

namespace cleat::app {

/// connect tries the addresses in their order until one accepts, and sends it `first`. Bytes that
/// the socket does not take at once are left in upstream_side::unsent. The error is the last
/// address's, or the interrupt's. `first` is copied before the first wait. Where a UNIX upstream
/// has no room, the worker's connections wait for it in `queue`.
///
/// It gives up after `timeout`; zero: never. Each address gets an equal part of the time that is
/// left, so that one that swallows packets does not hide the next.
net::task<result<upstream_side>> connect(
    net::interrupt& interrupt, connect_queue& queue, std::vector<net::address> const& addresses,
    std::span<std::byte const> first, std::chrono::milliseconds timeout);

} // namespace cleat::app
