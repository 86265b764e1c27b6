// connect: find an upstream that takes the connection and its first bytes.

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

/// connect tries the addresses in their order until one accepts, and sends it `first`. What its
/// socket does not take at once is left in upstream_side::unsent. The error is the last address's,
/// or the interrupt's. `first` is copied before the first wait. Where a UNIX upstream has no room,
/// the worker's connections wait for it in `line`.
///
/// It gives up after `within`, of which each address has its part of what is left: one that
/// swallows packets does not hide the next. Zero: never.
net::task<result<upstream_side>> connect(
    net::interrupt& by, connect_queue& line, std::vector<net::address> const& addresses,
    std::span<std::byte const> first, std::chrono::milliseconds within);

} // namespace cleat::app
