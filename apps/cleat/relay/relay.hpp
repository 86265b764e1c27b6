// relay: the two-way copy between a client and its upstream.

#pragma once

#include "counts/close_reason.hpp"
#include "relay/client_end.hpp"
#include "relay/relay_deadlines.hpp"
#include "relay/upstream_side.hpp"
#include "worker/byte_counts.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

namespace cleat::app {

/// relay_outcome is how a relay ended; the error is what broke a side, none after a clean end.
struct relay_outcome
{
    close_reason reason = close_reason::done;
    error_code error{};
};

/// relay copies both ways until both sides have closed or one has broken, and counts in `traffic`.
/// It clears the deadline that is set in `interrupt`. Memory is bounded: while a sink is full its
/// source is not read, and a sink holds at most limits::unsent_max. The upstream is an
/// upstream_side or a tls_upstream: each has a relay of its own, so that neither pays for the
/// other.
template <class Upstream>
net::task<relay_outcome> relay(
    net::interrupt& interrupt, client_end client, Upstream& upstream, relay_deadlines deadlines,
    byte_counts& traffic);

} // namespace cleat::app
