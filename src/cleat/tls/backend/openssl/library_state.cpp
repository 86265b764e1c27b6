// A worker's own OSSL_LIB_CTX: its provider, its fetched algorithms, its random generators.

#include <cleat/tls/backend/openssl/compression/compression.hpp>
#include <cleat/tls/backend/openssl/state.hpp>
#include <cleat/tls/capabilities.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>

#include <array>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace cleat::tls {
namespace backend {
namespace {

// An encrypted key is an error: the library must not prompt on the terminal.
int no_passphrase(char*, int, int, void*) noexcept
{
    return -1;
}

} // namespace

library_state::library_state() : state_{std::make_unique<state>()}
{
    state& s = *state_;
    s.library.reset(OSSL_LIB_CTX_new());
    if (s.library != nullptr)
        s.provider.reset(OSSL_PROVIDER_load(s.library.get(), "default"));
    if (s.provider != nullptr) {
        s.aes_256_cbc.reset(EVP_CIPHER_fetch(s.library.get(), "AES-256-CBC", nullptr));
        s.hkdf.reset(EVP_KDF_fetch(s.library.get(), OSSL_KDF_NAME_HKDF, nullptr));
    }
    if (s.aes_256_cbc == nullptr || s.hkdf == nullptr)
        throw std::runtime_error{
            "OpenSSL's default provider cannot be loaded: " + drain_errors().reason};
}

library_state::library_state(library_state&&) noexcept = default;
library_state& library_state::operator=(library_state&&) noexcept = default;
library_state::~library_state() = default;

ssl_ctx_ptr library_state::new_ctx(bool server) const
{
    ssl_ctx_ptr ctx{SSL_CTX_new_ex(
        state_->library.get(), nullptr, server ? TLS_server_method() : TLS_client_method())};
    if (ctx != nullptr)
        take_no_compressed_certificates(ctx.get());
    return ctx;
}

x509_ptr library_state::read_certificate(BIO* pem) const
{
    X509* certificate = X509_new_ex(state_->library.get(), nullptr);
    if (certificate == nullptr)
        return nullptr;
    if (PEM_read_bio_X509(pem, &certificate, no_passphrase, nullptr) == nullptr) {
        X509_free(certificate); // Null where the failed decoding has freed it.
        return nullptr;
    }
    return x509_ptr{certificate};
}

evp_pkey_ptr library_state::read_private_key(BIO* pem) const
{
    return evp_pkey_ptr{PEM_read_bio_PrivateKey_ex(
        pem, nullptr, no_passphrase, nullptr, state_->library.get(), nullptr)};
}

bool library_state::derive(
    std::span<std::byte const> secret, std::span<std::byte const> info,
    std::span<std::byte> out) const noexcept
{
    std::unique_ptr<EVP_KDF_CTX, freed_by<EVP_KDF_CTX_free>> const ctx{
        EVP_KDF_CTX_new(state_->hkdf.get())};
    if (ctx == nullptr)
        return false;
    // OSSL_PARAM takes void* for reading, too.
    std::array<char, 7> digest{"SHA256"};
    std::array<OSSL_PARAM, 4> const parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(
            OSSL_KDF_PARAM_KEY, const_cast<std::byte*>(secret.data()), secret.size()),
        OSSL_PARAM_construct_octet_string(
            OSSL_KDF_PARAM_INFO, const_cast<std::byte*>(info.data()), info.size()),
        OSSL_PARAM_construct_end()};
    bool const done = EVP_KDF_derive(
                          ctx.get(), reinterpret_cast<unsigned char*>(out.data()), out.size(),
                          parameters.data()) == 1;
    if (!done)
        clear_errors();
    return done;
}

// Its random generators: the thread's end would look for them in the freed library context.
void library_state::leave_thread() const noexcept
{
    OPENSSL_thread_stop_ex(state_->library.get());
}

namespace {

// From OpenSSL 3.5 on. Tested last: each test takes a lock of the library context.
std::optional<key_type> ml_dsa_type_of(EVP_PKEY* key) noexcept
{
    constexpr std::array<std::pair<char const*, key_type>, 3> types{
        {{"ML-DSA-44", key_type::ml_dsa_44},
         {"ML-DSA-65", key_type::ml_dsa_65},
         {"ML-DSA-87", key_type::ml_dsa_87}}};
    for (auto const& [name, type] : types)
        if (EVP_PKEY_is_a(key, name) == 1)
            return type;
    return {};
}

} // namespace

std::optional<key_type> key_type_of(EVP_PKEY* key) noexcept
{
    if (EVP_PKEY_is_a(key, "RSA") == 1)
        return key_type::rsa;
    if (EVP_PKEY_is_a(key, "ED25519") == 1)
        return key_type::ed25519;
    if (EVP_PKEY_is_a(key, "EC") != 1)
        return ml_dsa_type_of(key);
    std::array<char, 64> name{};
    if (EVP_PKEY_get_group_name(key, name.data(), name.size(), nullptr) != 1)
        return {};
    std::string_view const curve{name.data()};
    if (curve == "prime256v1" || curve == "P-256")
        return key_type::ecdsa_p256;
    if (curve == "secp384r1" || curve == "P-384")
        return key_type::ecdsa_p384;
    if (curve == "secp521r1" || curve == "P-521")
        return key_type::ecdsa_p521;
    return {};
}

std::optional<std::int64_t> posix_time(ASN1_TIME const* asn1_time) noexcept
{
    std::tm parts{};
    if (ASN1_TIME_to_tm(asn1_time, &parts) != 1)
        return {};
    return timegm(&parts);
}

bool has_group(SSL_CTX* ctx, std::string const& name)
{
    bool const known = SSL_CTX_set1_groups_list(ctx, name.c_str()) == 1;
    clear_errors();
    return known;
}

bool set_groups(SSL_CTX* ctx, std::string const& names)
{
    return SSL_CTX_set1_groups_list(ctx, names.c_str()) == 1;
}

bool set_ciphersuites(SSL_CTX* ctx, std::string const& names)
{
    return SSL_CTX_set_ciphersuites(ctx, names.c_str()) == 1;
}

void set_modes(SSL_CTX* ctx)
{
    SSL_CTX_set_mode(
        ctx,
        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}

void set_ticket_lifetime(SSL_CTX* ctx, std::chrono::seconds lifetime) noexcept
{
    SSL_CTX_set_timeout(ctx, static_cast<long>(lifetime.count()));
}

void prepare(SSL*) noexcept {}

} // namespace backend

std::string library_version()
{
    return std::string{"OpenSSL "} + OpenSSL_version(OPENSSL_VERSION_STRING);
}

capabilities library_capabilities() noexcept
{
    static bool const post_quantum = [] {
        try {
            backend::library_state const library;
            ssl_ctx_ptr const ctx = library.new_ctx(true);
            return ctx != nullptr && backend::has_group(ctx.get(), "X25519MLKEM768");
        } catch (std::exception const&) {
            return false;
        }
    }();
    return {
        .post_quantum_group = post_quantum,
        .library_contexts = true,
        .certificate_compression = backend::can_compress(1) || backend::can_compress(2)};
}

} // namespace cleat::tls
