// renegotiation: whether a server lets its clients begin another handshake on a connection of
// TLS 1.2. Each costs the server a handshake, and no new connection.

#pragma once

#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

#include <cleat/tls/context.hpp>
#include <cleat/tls/context_spec.hpp>

namespace cleat::bench {

/// set_renegotiating restricts a client to TLS 1.2, with the suites that this test needs.
void set_renegotiating(tls::context_spec& spec);

/// find_client_renegotiation asks for another handshake, on a connection of such a client.
[[nodiscard]] probed_answer find_client_renegotiation(
    raw_client const& client, tls::context const& context);

} // namespace cleat::bench
