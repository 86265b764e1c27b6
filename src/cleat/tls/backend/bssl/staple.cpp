// OCSP stapling in the BoringSSL family. Its callback for the certificate runs before the library
// decides whether to send a response, and a response that is not set is not sent. BoringSSL has no
// callback for OCSP.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>

#include <cstdint>
#include <ctime>

namespace cleat::tls::backend {
namespace {

// The failure is the lack of memory: the handshake goes on without a response.
int add_fresh_response(SSL* ssl, void* argument) noexcept
{
    ocsp_response const& response = *static_cast<ocsp_response const*>(argument);
    if (response.is_fresh(std::time(nullptr)))
        static_cast<void>(SSL_set_ocsp_response(
            ssl, reinterpret_cast<std::uint8_t const*>(response.der.data()), response.der.size()));
    return 1;
}

} // namespace

void staple(SSL_CTX* ctx, ocsp_response const* response)
{
    SSL_CTX_set_cert_cb(ctx, add_fresh_response, const_cast<ocsp_response*>(response));
}

void staple(SSL* ssl, ocsp_response const& response) noexcept
{
    static_cast<void>(add_fresh_response(ssl, const_cast<ocsp_response*>(&response)));
}

void allow_staples(SSL_CTX*) {}

} // namespace cleat::tls::backend
