// OpenSSL before 3.2 has no certificate compression.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/compression/compression.hpp>

namespace cleat::tls::backend {

bool can_compress(std::uint16_t) noexcept
{
    return false;
}

bool compress_certificates(SSL_CTX*, compressed_certificates*)
{
    return false;
}

bool add_compressed_certificate(SSL*) noexcept
{
    return true;
}

void take_no_compressed_certificates(SSL_CTX*) noexcept {}

} // namespace cleat::tls::backend
