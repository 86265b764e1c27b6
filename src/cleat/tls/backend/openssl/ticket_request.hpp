// ticket_request: how many tickets a client gets, by the plan of its context and by its own request
// (RFC 9149). Not a public header.

#pragma once

#include <openssl/ssl.h>

namespace cleat::tls::openssl {

/// resumed_tickets is how many the client may get with a resumed handshake, by the plan.
[[nodiscard]] unsigned resumed_tickets(SSL const* ssl) noexcept;

} // namespace cleat::tls::openssl
