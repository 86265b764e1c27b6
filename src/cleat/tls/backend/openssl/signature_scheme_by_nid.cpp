// The signature scheme before OpenSSL 3.5, from the NIDs of key and digest.

#include <cleat/tls/backend.hpp>

#include <array>

namespace cleat::tls::backend {
namespace {

struct row
{
    int key;
    int digest;
    std::string_view name;
};

constexpr std::array<row, 9> schemes{{
    {EVP_PKEY_EC, NID_sha256, "ecdsa_secp256r1_sha256"},
    {EVP_PKEY_EC, NID_sha384, "ecdsa_secp384r1_sha384"},
    {EVP_PKEY_EC, NID_sha512, "ecdsa_secp521r1_sha512"},
    {EVP_PKEY_RSA_PSS, NID_sha256, "rsa_pss_rsae_sha256"},
    {EVP_PKEY_RSA_PSS, NID_sha384, "rsa_pss_rsae_sha384"},
    {EVP_PKEY_RSA_PSS, NID_sha512, "rsa_pss_rsae_sha512"},
    {EVP_PKEY_RSA, NID_sha256, "rsa_pkcs1_sha256"},
    {EVP_PKEY_RSA, NID_sha384, "rsa_pkcs1_sha384"},
    {EVP_PKEY_RSA, NID_sha512, "rsa_pkcs1_sha512"},
}};

} // namespace

std::string_view signature_scheme(SSL* ssl, std::uint16_t) noexcept
{
    // The library returns a scheme also where nothing was signed.
    bool const encrypts = SSL_CIPHER_get_kx_nid(SSL_get_current_cipher(ssl)) == NID_kx_rsa;
    if (encrypts || SSL_session_reused(ssl) == 1)
        return {};
    int key = NID_undef;
    int digest = NID_undef;
    if (SSL_is_server(ssl) == 1) {
        if (SSL_get_signature_type_nid(ssl, &key) != 1)
            return {};
        static_cast<void>(SSL_get_signature_nid(ssl, &digest)); // Ed25519 has none.
    } else {
        if (SSL_get_peer_signature_type_nid(ssl, &key) != 1)
            return {};
        static_cast<void>(SSL_get_peer_signature_nid(ssl, &digest));
    }
    if (key == EVP_PKEY_ED25519)
        return "ed25519";
    for (row const& each : schemes)
        if (each.key == key && each.digest == digest)
            return each.name;
    return {};
}

} // namespace cleat::tls::backend
