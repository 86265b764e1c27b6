// probe_options: how a server is probed.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// probe_options is how a server is probed.
struct probe_options
{
    /// The time that each connection has from its first packet to the end of its handshake.
    std::chrono::milliseconds timeout{5000};
    /// How long a connection is kept open for tickets after its handshake if neither a ticket nor a
    /// response comes: some servers send tickets with their first bytes.
    std::chrono::milliseconds ticket_wait{1000};
    /// The name for SNI and for the certificate; empty: the host.
    std::string server_name;
    std::vector<std::string> fleet;    ///< Hosts that should resume the target's sessions.
    std::string authorities;           ///< PEM text; empty: the system's.
    std::string authorities_origin;    ///< Their file, for error messages.
    std::optional<unsigned> warn_days; ///< Fewer days left of a certificate are a weakness.
    unsigned rounds = 5;               ///< Full handshakes that are timed.
    unsigned resumptions = 4;          ///< Attempts for each way to resume, one after the other.
};

} // namespace cleat::bench
