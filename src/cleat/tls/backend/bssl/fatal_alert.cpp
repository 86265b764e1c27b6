// The fatal alert of a connection that its own side gives up.

#include <cleat/tls/backend.hpp>

#include <openssl/ssl.h>

namespace cleat::tls::backend {

int send_internal_error(SSL* ssl) noexcept
{
    return SSL_send_fatal_alert(ssl, SSL_AD_INTERNAL_ERROR);
}

} // namespace cleat::tls::backend
