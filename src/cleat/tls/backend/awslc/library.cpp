// Where AWS-LC differs from the rest of the BoringSSL family.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/awslc/signing.hpp>
#include <cleat/tls/backend/awslc/uniqueness.hpp>
#include <cleat/tls/backend/bssl/ml_dsa.hpp>
#include <cleat/tls/context.hpp>

#include <openssl/base.h>
#include <openssl/err.h>
#include <openssl/evp.h>

namespace cleat::tls {

ssl_ctx_ptr backend::library_state::new_ctx(bool server) const
{
    awslc::detect_copies();
    ssl_ctx_ptr ctx{SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())};
    if (server && ctx != nullptr)
        awslc::watch_signing(ctx.get());
    return ctx;
}

// BoringSSL gives no error for FIN without close_notify, AWS-LC gives OpenSSL's.
bool backend::is_truncation(std::uint32_t library_error) noexcept
{
    return ERR_GET_LIB(library_error) == ERR_LIB_SSL &&
           ERR_GET_REASON(library_error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

std::optional<key_type> bssl::ml_dsa_type(EVP_PKEY const* key) noexcept
{
    if (EVP_PKEY_id(key) != EVP_PKEY_PQDSA)
        return {};
    switch (EVP_PKEY_pqdsa_get_type(key)) {
    case NID_MLDSA44:
        return key_type::ml_dsa_44;
    case NID_MLDSA65:
        return key_type::ml_dsa_65;
    case NID_MLDSA87:
        return key_type::ml_dsa_87;
    default:
        return {};
    }
}

bool backend::can_verify(SSL_CTX*, signature_scheme_name const& scheme) noexcept
{
    return SSL_get_signature_algorithm_name(scheme.number, 1) != nullptr;
}

bool backend::set_ciphersuites(SSL_CTX* ctx, std::string const& names)
{
    return SSL_CTX_set_ciphersuites(ctx, names.c_str()) == 1;
}

std::string library_version()
{
    return "AWS-LC " AWSLC_VERSION_NUMBER_STRING;
}

} // namespace cleat::tls
