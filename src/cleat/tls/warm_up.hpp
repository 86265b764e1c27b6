// warm_up: throw-away handshakes, so that the first real one finds nothing left to fetch. Not a
// public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// warm_server shakes hands in memory once for each version that the spec allows, with a client of
/// its own: everything that OpenSSL fetches on first use, under locks, is there afterwards, and so
/// are the numbers that an RSA key is prepared with. A version in which no handshake succeeds is a
/// warning: no client could do better. A few milliseconds.
///
/// groups are the server's, as its library takes them.
void warm_server(
    backend::library_state const& library, SSL_CTX* server, context_spec const& spec,
    std::string const& groups, key_type key, std::string const& origin,
    std::vector<std::string>& warnings);

/// warm_client makes a ClientHello and throws it away.
void warm_client(SSL_CTX* client);

} // namespace cleat::tls
