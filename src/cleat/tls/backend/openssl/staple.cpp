// OCSP stapling with OpenSSL: its callback runs for clients that ask for a response.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/staple.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>

#include <cstring>
#include <ctime>

namespace cleat::tls::backend {
namespace {

bool add_if_fresh(SSL* ssl, ocsp_response const& response) noexcept
{
    if (!response.is_fresh(std::time(nullptr)))
        return false;
    void* const copy = OPENSSL_memdup(response.der.data(), response.der.size());
    if (copy == nullptr)
        return false;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(response.der.size()));
    return true;
}

int add_fresh_response(SSL* ssl, void* argument) noexcept
{
    return add_if_fresh(ssl, *static_cast<ocsp_response const*>(argument)) ? SSL_TLSEXT_ERR_OK
                                                                           : SSL_TLSEXT_ERR_NOACK;
}

// The library sends the response that the connection has, if any.
int send_response(SSL*, void*) noexcept
{
    return SSL_TLSEXT_ERR_OK;
}

} // namespace

void staple(SSL_CTX* ctx, ocsp_response const* response)
{
    SSL_CTX_set_tlsext_status_cb(ctx, add_fresh_response);
    SSL_CTX_set_tlsext_status_arg(ctx, const_cast<ocsp_response*>(response));
}

void staple(SSL* ssl, ocsp_response const& response) noexcept
{
    static_cast<void>(add_if_fresh(ssl, response));
}

std::string response_of(SSL* ssl)
{
    void* argument = nullptr;
    SSL_CTX_get_tlsext_status_arg(SSL_get_SSL_CTX(ssl), &argument);
    if (argument != nullptr) {
        ocsp_response const& response = *static_cast<ocsp_response const*>(argument);
        return response.is_fresh(std::time(nullptr)) ? response.der : std::string{};
    }
    char const* own = nullptr;
    long const size = SSL_get_tlsext_status_ocsp_resp(ssl, &own);
    return size <= 0 ? std::string{} : std::string{own, static_cast<std::size_t>(size)};
}

void allow_staples(SSL_CTX* ctx)
{
    SSL_CTX_set_tlsext_status_cb(ctx, send_response);
}

} // namespace cleat::tls::backend
