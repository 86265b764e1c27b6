// OpenSSL's error codes as cleat::error.

#include <cleat/tls/backend.hpp>

#include <openssl/err.h>
#include <openssl/sslerr.h>

namespace cleat::tls::backend {
namespace {

error error_of_reason(int reason) noexcept
{
    switch (reason) {
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
        return error::http_request;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_RECORD_TOO_SMALL:
        return error::not_tls;
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNSUPPORTED_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_VERSION_TOO_HIGH:
    case SSL_R_INAPPROPRIATE_FALLBACK:
        return error::no_shared_version;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CIPHERS_SPECIFIED:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        return error::no_shared_cipher;
    case SSL_R_NO_SHARED_GROUPS:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
        return error::no_shared_group;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return error::no_client_certificate;
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return error::bad_certificate;
    case SSL_R_NO_APPLICATION_PROTOCOL:
        return error::alpn_mismatch;
    case SSL_R_NO_RENEGOTIATION:
        return error::renegotiation;
    case SSL_R_BAD_WRITE_RETRY:
        return error::bad_retry;
    case SSL_R_PROTOCOL_IS_SHUTDOWN:
        return error::write_after_close;
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
        return error::truncated;
    case SSL_R_BIO_NOT_SET:
    case SSL_R_CALLBACK_FAILED:
    case SSL_R_UNINITIALIZED:
        return error::library;
    default:
        // The context was built and has made handshakes (warm_up), so the peer's bytes are the
        // cause.
        return error::protocol_violation;
    }
}

} // namespace

bool is_truncation(std::uint32_t library_error) noexcept
{
    return ERR_GET_LIB(library_error) == ERR_LIB_SSL &&
           ERR_GET_REASON(library_error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

error error_of(std::uint32_t library_error) noexcept
{
    if (ERR_GET_LIB(library_error) != ERR_LIB_SSL || ERR_COMMON_ERROR(library_error))
        return error::library;
    return error_of_reason(ERR_GET_REASON(library_error));
}

} // namespace cleat::tls::backend
