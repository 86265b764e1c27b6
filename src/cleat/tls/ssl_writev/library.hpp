// What the gather write asks of the TLS library in use. Not a public header.
//
// Each folder of tls/backend defines these; they are apart from backend.hpp because they speak of
// any SSL, not of one of ours.

#pragma once

#include <openssl/ssl.h>

namespace cleat::tls::backend {

/// rereads_plaintext is true when the library may read the bytes of a run from their address again
/// after SSL_write has returned without taking them all.
[[nodiscard]] bool rereads_plaintext(SSL* ssl) noexcept;

/// must_retry is true when SSL_write, which has just failed, binds its caller to the same bytes.
[[nodiscard]] bool must_retry(SSL* ssl) noexcept;

/// mark_failed makes SSL_get_error say SSL_ERROR_SSL for a call that SSL_write never saw. The
/// caller puts the reason into the error queue afterwards.
void mark_failed(SSL* ssl) noexcept;

} // namespace cleat::tls::backend
