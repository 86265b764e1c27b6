// The gather write on AWS-LC and BoringSSL.

#include <cleat/tls/ssl_writev/library.hpp>

namespace cleat::tls::backend {

// A record is sealed before SSL_write returns, and there is neither kernel TLS nor ASYNC.
bool rereads_plaintext(SSL*) noexcept
{
    return false;
}

// SSL_want, not SSL_get_error: the caller's error queue may have an older entry.
// After a rejection of early data SSL_reset_early_data_reject makes the library forget it.
bool must_retry(SSL* ssl) noexcept
{
    int const why = SSL_want(ssl);
    return why != SSL_NOTHING && why != SSL_ERROR_EARLY_DATA_REJECTED;
}

// SSL_get_error returns SSL_ERROR_SSL whenever the error queue has an entry.
void mark_failed(SSL*) noexcept {}

} // namespace cleat::tls::backend
