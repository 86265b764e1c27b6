// relay: the two-way copy between a TLS client and its upstream.

#pragma once

#include "byte_counts.hpp"
#include "client_side.hpp"
#include "close_reason.hpp"
#include "upstream_side.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

#include <chrono>

namespace cleat::app {

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
    net::interrupt& by, client_side& from, upstream_side& to, relay_deadlines within,
    byte_counts& moved);

} // namespace cleat::app
