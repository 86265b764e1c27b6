// The gather write on OpenSSL.

#include <cleat/tls/ssl_writev/library.hpp>

#include <openssl/err.h>

namespace cleat::tls::backend {

// The kernel encrypts from the caller's buffer; a paused ASYNC job keeps SSL_write's arguments.
bool rereads_plaintext(SSL* ssl) noexcept
{
    return (SSL_get_options(ssl) & SSL_OP_ENABLE_KTLS) != 0 ||
           (SSL_get_mode(ssl) & SSL_MODE_ASYNC) != 0;
}

// SSL_want, not SSL_get_error: an old entry in the caller's error queue says nothing of this call.
bool must_retry(SSL* ssl) noexcept
{
    return SSL_want(ssl) != SSL_NOTHING;
}

// Up to 3.x SSL_get_error looks into the error queue. From 4.0 on it tells what the last call on
// the SSL said, so there must be one: SSL_write of a negative length fails and changes nothing
// else.
void mark_failed(SSL* ssl) noexcept
{
    ERR_set_mark();
    SSL_write(ssl, "", -1);
    ERR_pop_to_mark();
}

} // namespace cleat::tls::backend
