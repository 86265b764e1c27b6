// staple: the OCSP response of a connection, for the OpenSSL backend.

#pragma once

#include <cleat/tls/handles.hpp>

#include <string>

namespace cleat::tls::backend {

/// response_of is what the connection's certificate is sent with to a client that asks for a
/// response, in DER; empty: nothing.
[[nodiscard]] std::string response_of(SSL* ssl);

} // namespace cleat::tls::backend
