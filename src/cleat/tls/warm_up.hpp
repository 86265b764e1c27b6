// warm_up: handshakes in memory that make the library fetch its algorithms before the first
// connection. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// warm_server runs a handshake in memory for each version that the spec allows, with a client that
/// it makes. Afterwards OpenSSL has fetched everything that it fetches under locks on first use,
/// and has precomputed the numbers of an RSA key. Takes a few milliseconds.
///
/// A version in which no handshake succeeds is added to warnings: no client would succeed either.
/// False: none succeeds in any version. groups are the server's, as context_settings::groups
/// returns them.
[[nodiscard]] bool warm_server(
    backend::library_state const& library, SSL_CTX* server, context_spec const& spec,
    std::string const& groups, key_type key, std::string const& origin,
    std::vector<std::string>& warnings);

/// warm_client makes a ClientHello and throws it away.
void warm_client(SSL_CTX* client);

} // namespace cleat::tls
