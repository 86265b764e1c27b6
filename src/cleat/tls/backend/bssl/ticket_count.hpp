// ticket_count: how many tickets the next handshake gives. Not a public header.

#pragma once

#include <openssl/ssl.h>

namespace cleat::tls::bssl {

/// set_ticket_count is called before each part of a handshake. It sets the number of tickets of the
/// context that ssl began on, which may differ for full and resumed handshakes.
void set_ticket_count(SSL* ssl) noexcept;

} // namespace cleat::tls::bssl
