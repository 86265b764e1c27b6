// library: what the gather write needs to know of the TLS library. Not a public header.
//
// Each folder of tls/backend defines these functions. They are not in backend.hpp because they take
// any SSL, not only one of cleat's.

#pragma once

#include <openssl/ssl.h>

namespace cleat::tls::backend {

/// rereads_plaintext is true when the library may read the bytes of a run from their address again
/// after SSL_write has returned without taking them all.
[[nodiscard]] bool rereads_plaintext(SSL* ssl) noexcept;

/// must_retry is true when SSL_write, which has just failed, binds its caller to the same bytes.
[[nodiscard]] bool must_retry(SSL* ssl) noexcept;

/// mark_failed makes SSL_get_error return SSL_ERROR_SSL for a call that did not reach SSL_write.
/// The caller then puts the reason into the error queue.
void mark_failed(SSL* ssl) noexcept;

} // namespace cleat::tls::backend
