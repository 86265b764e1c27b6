// certificates_for_tests: certificates that are made when a test asks for them. Nothing in it is
// secret or lasts.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// test_identity is a certificate and its key, as PEM and as objects to issue others with.
struct test_identity
{
    x509_ptr certificate;
    evp_pkey_ptr key;
    std::string certificate_pem;
    std::string key_pem;

    /// source is what a context_spec takes. chain is the issuers' PEM, appended to the certificate.
    [[nodiscard]] certificate_source source(std::string origin, std::string const& chain = {}) const
    {
        return {certificate_pem + chain, key_pem, std::move(origin)};
    }
};

struct test_identity_spec
{
    key_type type = key_type::ecdsa_p256;
    std::vector<std::string> names{}; ///< DNS names in the SAN; empty: no SAN.
    std::string common_name = "cleat test";
    std::vector<std::string> addresses{};  ///< IP addresses in the SAN.
    test_identity const* issuer = nullptr; ///< Null: self-signed.
    bool authority = false;
    int valid_from_days = -1; ///< From today.
    int valid_to_days = 30;
};

/// make_identity makes a certificate and its key. All RSA certificates share one key.
[[nodiscard]] test_identity make_identity(test_identity_spec const& spec);

/// make_test_key makes a private key; curve is a NID, or NID_undef for RSA-2048 or an Ed25519 key.
[[nodiscard]] evp_pkey_ptr make_test_key(int type, int curve);

/// make_ml_dsa_test_key is null where the TLS library has no such key.
[[nodiscard]] evp_pkey_ptr make_ml_dsa_test_key(key_type type);

/// usable_key_types is every type that the TLS library has.
[[nodiscard]] std::vector<key_type> usable_key_types();

/// sign_identity makes a certificate for the caller's key.
[[nodiscard]] test_identity sign_identity(evp_pkey_ptr key, test_identity_spec const& spec);

/// crl_with is the authority's CRL in PEM, with one certificate. It is valid for a day.
[[nodiscard]] std::string crl_with(test_identity const& authority, test_identity const& revoked);

/// encrypted_pem is the key under the passphrase "secret".
[[nodiscard]] std::string encrypted_pem(EVP_PKEY* key);

} // namespace cleat::tls
