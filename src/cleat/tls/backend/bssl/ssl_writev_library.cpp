// The gather write on AWS-LC and BoringSSL.

#include <cleat/tls/ssl_writev_library.hpp>

namespace cleat::tls::backend {

// A record is sealed before SSL_write returns, and there is neither kernel TLS nor ASYNC.
bool rereads_plaintext(SSL*) noexcept
{
    return false;
}

// SSL_get_error says SSL_ERROR_SSL whenever the error queue has an entry.
void mark_failed(SSL*) noexcept {}

} // namespace cleat::tls::backend
