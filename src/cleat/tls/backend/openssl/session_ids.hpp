// session_ids: what OpenSSL's callbacks for sessions and names share. Not a public header.

#pragma once

#include <cleat/tls/session_id_cache.hpp>

#include <openssl/ssl.h>

#include <optional>

namespace cleat::tls::openssl {

/// awaited_session is the ID of the session that the client of this ClientHello offers, where
/// another worker must be asked for it first.
[[nodiscard]] std::optional<session_id> awaited_session(SSL* ssl) noexcept;

/// accept_name is for SSL_CTX_set_tlsext_servername_callback: without it the library stores no
/// server name in a session, and then has none for a client that resumes in TLS 1.2.
int accept_name(SSL* ssl, int* alert, void* argument) noexcept;

/// has_other_name: a TLS 1.2 session goes on under the name that it began with, and no other (RFC
/// 6066, section 3). The library resumes it for any name, and then gives the session's as the
/// client's.
[[nodiscard]] bool has_other_name(SSL* ssl, SSL_SESSION const* session) noexcept;

} // namespace cleat::tls::openssl
