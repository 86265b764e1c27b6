// handles: smart pointers for the TLS library's objects. Not a public header.

#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace cleat::tls {

template <auto Free>
struct freed_by
{
    template <class T>
    void operator()(T* object) const noexcept
    {
        Free(object);
    }
};

using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using ssl_ctx_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using bio_method_ptr = std::unique_ptr<BIO_METHOD, freed_by<BIO_meth_free>>;
using evp_pkey_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using x509_crl_ptr = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;
using x509_ptr = std::unique_ptr<X509, freed_by<X509_free>>;

} // namespace cleat::tls
