// stapling_client_for_tests: a client that asks for an OCSP response. A file of each backend
// defines it.

#pragma once

#include <cleat/tls/handles.hpp>

#include <string>

namespace cleat::tls {

/// ask_for_ocsp makes a client send status_request (RFC 6066, section 8).
void ask_for_ocsp(SSL* client);

/// received_ocsp is the response that the server has sent, in DER; empty: none.
[[nodiscard]] std::string received_ocsp(SSL* client);

} // namespace cleat::tls
