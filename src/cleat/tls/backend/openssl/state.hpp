// state: what a library_state holds with OpenSSL.

#pragma once

#include <cleat/tls/backend.hpp>

#include <openssl/kdf.h>
#include <openssl/provider.h>

namespace cleat::tls::backend {

/// state's members are freed from last to first: the library context goes last.
struct library_state::state
{
    std::unique_ptr<OSSL_LIB_CTX, freed_by<OSSL_LIB_CTX_free>> library;
    std::unique_ptr<OSSL_PROVIDER, freed_by<OSSL_PROVIDER_unload>> provider;
    std::unique_ptr<EVP_CIPHER, freed_by<EVP_CIPHER_free>>
        aes_256_cbc; ///< Fetched once, for tickets.
    std::unique_ptr<EVP_KDF, freed_by<EVP_KDF_free>> hkdf;
};

} // namespace cleat::tls::backend
