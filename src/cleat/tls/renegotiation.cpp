#include <cleat/core/limits.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/renegotiation.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <memory>

namespace cleat::tls {
namespace {

using cipher_ctx_ptr = std::unique_ptr<EVP_CIPHER_CTX, freed_by<EVP_CIPHER_CTX_free>>;

constexpr std::size_t random_size = 32;
constexpr std::size_t master_secret_max = 48;
constexpr std::size_t salt_size = 4; // Of AES-GCM's nonce (RFC 5288, section 3).
constexpr std::size_t tag_size = 16;
constexpr char record_of_handshake = 22;

// gcm_suite is what a suite of AES-GCM encrypts with.
struct gcm_suite
{
    EVP_CIPHER const* cipher = nullptr;
    EVP_MD const* hash = nullptr;
    std::size_t key_size = 0;
};

gcm_suite suite_of(SSL const* ssl)
{
    SSL_CIPHER const* const agreed = SSL_get_current_cipher(ssl);
    if (agreed == nullptr || SSL_version(ssl) != TLS1_2_VERSION)
        return {};
    std::string_view const name = SSL_CIPHER_get_name(agreed);
    if (name.ends_with("AES128-GCM-SHA256"))
        return {EVP_aes_128_gcm(), EVP_sha256(), 16};
    if (name.ends_with("AES256-GCM-SHA384"))
        return {EVP_aes_256_gcm(), EVP_sha384(), 32};
    return {};
}

unsigned char const* unsigned_of(std::string_view text)
{
    return reinterpret_cast<unsigned char const*>(text.data());
}

unsigned char* unsigned_of(std::string& text)
{
    return reinterpret_cast<unsigned char*>(text.data());
}

// The libraries do not agree on the type of a key's size.
template <class Size>
std::string sign_with(
    unsigned char* (*hmac)(
        EVP_MD const*, void const*, Size, unsigned char const*, std::size_t, unsigned char*,
        unsigned*),
    EVP_MD const* hash, std::string_view key, std::string_view text)
{
    std::string mac(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    hmac(
        hash, key.data(), static_cast<Size>(key.size()), unsigned_of(text), text.size(),
        unsigned_of(mac), &size);
    mac.resize(size);
    return mac;
}

// P_hash (RFC 5246, section 5).
std::string expand(EVP_MD const* hash, std::string_view key, std::string const& seed, std::size_t n)
{
    std::string made;
    std::string a = seed;
    while (made.size() < n) {
        a = sign_with(&HMAC, hash, key, a);
        made += sign_with(&HMAC, hash, key, a + seed);
    }
    made.resize(n);
    return made;
}

// The client's key and salt, of the key block (RFC 5246, section 6.3).
std::string key_block_of(SSL const* ssl, gcm_suite const& suite)
{
    std::string secret(master_secret_max, '\0');
    secret.resize(
        SSL_SESSION_get_master_key(SSL_get_session(ssl), unsigned_of(secret), secret.size()));
    std::string randoms(2 * random_size, '\0');
    SSL_get_server_random(ssl, unsigned_of(randoms), random_size);
    SSL_get_client_random(ssl, unsigned_of(randoms) + random_size, random_size);
    return expand(
        suite.hash, secret, "key expansion" + randoms, 2 * suite.key_size + 2 * salt_size);
}

} // namespace

std::string client_verify_data(engine const& client)
{
    std::string data(EVP_MAX_MD_SIZE, '\0');
    data.resize(
        client.established() ? SSL_get_finished(client.native_handle(), data.data(), data.size())
                             : 0);
    return data;
}

std::string seal_handshake(engine const& client, std::string_view message)
{
    SSL const* const ssl = client.native_handle();
    gcm_suite const suite = suite_of(ssl);
    if (suite.cipher == nullptr || !client.established() ||
        message.size() > limits::plaintext_record_max)
        return {};
    std::string const keys = key_block_of(ssl, suite);
    std::string_view const key = std::string_view{keys}.substr(0, suite.key_size);
    std::string const sequence{"\0\0\0\0\0\0\0\x01", 8}; // The Finished was record 0.
    std::string const nonce = keys.substr(2 * suite.key_size, salt_size) + sequence;
    auto const size = [](std::size_t n) {
        return std::string{static_cast<char>(n >> 8), static_cast<char>(n)};
    };
    std::string const type = std::string{record_of_handshake} + "\x03\x03";
    std::string const authenticated = sequence + type + size(message.size());

    cipher_ctx_ptr const c{EVP_CIPHER_CTX_new()};
    std::string sealed(message.size(), '\0');
    std::string tag(tag_size, '\0');
    int n = 0;
    auto const length = [](std::string_view text) { return static_cast<int>(text.size()); };
    bool const done =
        c &&
        EVP_EncryptInit_ex(c.get(), suite.cipher, nullptr, unsigned_of(key), unsigned_of(nonce)) ==
            1 &&
        EVP_EncryptUpdate(
            c.get(), nullptr, &n, unsigned_of(authenticated), length(authenticated)) == 1 &&
        EVP_EncryptUpdate(
            c.get(), unsigned_of(sealed), &n, unsigned_of(message), length(message)) == 1 &&
        EVP_EncryptFinal_ex(c.get(), unsigned_of(sealed) + sealed.size(), &n) == 1 &&
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, tag_size, tag.data()) == 1;
    if (!done)
        return {};
    return type + size(sequence.size() + sealed.size() + tag.size()) + sequence + sealed + tag;
}

} // namespace cleat::tls
