// The BoringSSL family has no state that workers contend for: a library_state is empty.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/ml_dsa.hpp>
#include <cleat/tls/capabilities.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/ec_key.h>
#include <openssl/nid.h>
#include <openssl/pem.h>

namespace cleat::tls::backend {
namespace {

// An encrypted key is an error: the library must not prompt on the terminal.
int no_passphrase(char*, int, int, void*) noexcept
{
    return -1;
}

// The family has the names of NIST and of X9.62; OpenSSL has those of RFC 8422, too.
std::string known_spelling(std::string const& names)
{
    std::string spelt;
    for (std::size_t begin = 0; begin <= names.size();) {
        std::size_t const end = std::min(names.find(':', begin), names.size());
        std::string const name = names.substr(begin, end - begin);
        spelt += name == "secp256r1" ? "P-256" : name;
        if (end < names.size())
            spelt += ':';
        begin = end + 1;
    }
    return spelt;
}

} // namespace

struct library_state::state
{
};

library_state::library_state() = default;
library_state::library_state(library_state&&) noexcept = default;
library_state& library_state::operator=(library_state&&) noexcept = default;
library_state::~library_state() = default;

x509_ptr library_state::read_certificate(BIO* pem) const
{
    return x509_ptr{PEM_read_bio_X509(pem, nullptr, no_passphrase, nullptr)};
}

evp_pkey_ptr library_state::read_private_key(BIO* pem) const
{
    return evp_pkey_ptr{PEM_read_bio_PrivateKey(pem, nullptr, no_passphrase, nullptr)};
}

void library_state::leave_thread() const noexcept {}

std::optional<key_type> key_type_of(EVP_PKEY* key) noexcept
{
    switch (EVP_PKEY_id(key)) {
    case EVP_PKEY_RSA:
        return key_type::rsa;
    case EVP_PKEY_ED25519:
        return key_type::ed25519;
    case EVP_PKEY_EC:
        break;
    default:
        return bssl::ml_dsa_type(key);
    }
    switch (EC_GROUP_get_curve_name(EC_KEY_get0_group(EVP_PKEY_get0_EC_KEY(key)))) {
    case NID_X9_62_prime256v1:
        return key_type::ecdsa_p256;
    case NID_secp384r1:
        return key_type::ecdsa_p384;
    case NID_secp521r1:
        return key_type::ecdsa_p521;
    default:
        return {};
    }
}

std::optional<std::int64_t> posix_time(ASN1_TIME const* asn1_time) noexcept
{
    std::int64_t seconds = 0;
    if (ASN1_TIME_to_posix(asn1_time, &seconds) != 1)
        return {};
    return seconds;
}

bool has_group(SSL_CTX* ctx, std::string const& name)
{
    bool const known = set_groups(ctx, name);
    clear_errors();
    return known;
}

bool set_groups(SSL_CTX* ctx, std::string const& names)
{
    return SSL_CTX_set1_groups_list(ctx, known_spelling(names).c_str()) == 1;
}

void set_modes(SSL_CTX* ctx)
{
    // Renegotiation and compression are off by default; buffers are always released.
    SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
}

void set_ticket_lifetime(SSL_CTX* ctx, std::chrono::seconds lifetime) noexcept
{
    std::uint32_t const seconds = static_cast<std::uint32_t>(lifetime.count());
    SSL_CTX_set_timeout(ctx, seconds);
    SSL_CTX_set_session_psk_dhe_timeout(ctx, seconds);
}

void prepare(SSL* ssl) noexcept
{
    SSL_set_shed_handshake_config(ssl, 1); // About 2 KiB that only a handshake needs.
}

} // namespace cleat::tls::backend

namespace cleat::tls {

capabilities library_capabilities() noexcept
{
    return {
        .post_quantum_group = true,
        .library_contexts = false,
        .frees_handshake = true,
        .certificate_compression = true,
    };
}

} // namespace cleat::tls
