// The fatal alert of a connection that its own side gives up.

#include <cleat/tls/backend.hpp>

#include <openssl/ssl.h>

namespace cleat::tls::backend {

int send_fatal_alert(SSL* ssl, std::uint8_t alert) noexcept
{
    return SSL_send_fatal_alert(ssl, alert);
}

} // namespace cleat::tls::backend
