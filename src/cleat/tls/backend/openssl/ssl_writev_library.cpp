// The gather write on OpenSSL.

#include <cleat/tls/ssl_writev/library.hpp>

#include <openssl/err.h>

namespace cleat::tls::backend {

// Kernel TLS encrypts from the caller's buffer; a paused ASYNC job keeps SSL_write's arguments.
bool rereads_plaintext(SSL* ssl) noexcept
{
    return (SSL_get_options(ssl) & SSL_OP_ENABLE_KTLS) != 0 ||
           (SSL_get_mode(ssl) & SSL_MODE_ASYNC) != 0;
}

// SSL_want, not SSL_get_error: the caller's error queue may have an older entry.
bool must_retry(SSL* ssl) noexcept
{
    return SSL_want(ssl) != SSL_NOTHING;
}

// Up to 3.x SSL_get_error looks into the error queue. From 4.0 on it returns the result of the last
// call on the SSL, so one must fail: SSL_write of a negative length fails and changes nothing else.
void mark_failed(SSL* ssl) noexcept
{
    ERR_set_mark();
    SSL_write(ssl, "", -1);
    ERR_pop_to_mark();
}

} // namespace cleat::tls::backend
