// OpenSSL 3.2 and later compress with algorithms of their own, and for each connection where the
// certificate is set on it. cleat does not use that.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {

bool compress_certificates(SSL_CTX*, compressed_certificates*)
{
    return false;
}

} // namespace cleat::tls::backend
