// ticket_count: how many tickets the next handshake gives, and how old the last one was. Not a
// public header.

#pragma once

#include <openssl/ssl.h>

namespace cleat::tls::bssl {

/// set_ticket_count is called before each part of a handshake. It sets the number of tickets of the
/// context that ssl began on, which may differ for full and resumed handshakes.
void set_ticket_count(SSL* ssl) noexcept;

/// note_ticket_age is called after each part of a handshake. It notes the age of a session of TLS
/// 1.2 that has resumed by its ticket: see note_session_age.
void note_ticket_age(SSL const* ssl) noexcept;

} // namespace cleat::tls::bssl
