// OCSP stapling with OpenSSL: its callback runs for clients that ask for a response.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>

#include <cstring>
#include <ctime>

namespace cleat::tls::backend {
namespace {

int add_fresh_response(SSL* ssl, void* argument) noexcept
{
    ocsp_response const& response = *static_cast<ocsp_response const*>(argument);
    if (!response.is_fresh(std::time(nullptr)))
        return SSL_TLSEXT_ERR_NOACK;
    void* const copy = OPENSSL_memdup(response.der.data(), response.der.size());
    if (copy == nullptr)
        return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(response.der.size()));
    return SSL_TLSEXT_ERR_OK;
}

} // namespace

void staple(SSL_CTX* ctx, ocsp_response const* response)
{
    SSL_CTX_set_tlsext_status_cb(ctx, add_fresh_response);
    SSL_CTX_set_tlsext_status_arg(ctx, const_cast<ocsp_response*>(response));
}

} // namespace cleat::tls::backend
