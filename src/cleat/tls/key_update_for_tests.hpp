// key_update: requests for new keys (RFC 8446, section 4.6.3), for tests: a whole KeyUpdate, and a
// record with half of one.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::tls {

/// request_key_update makes the next write of a TLS 1.3 engine begin with a KeyUpdate that the peer
/// must answer. False when the library refuses.
[[nodiscard]] inline bool request_key_update(engine& e)
{
    return SSL_key_update(e.native_handle(), SSL_KEY_UPDATE_REQUESTED) == 1;
}

/// half_key_update makes a record that no library sends: the first four bytes of a KeyUpdate. While
/// it lives it reads the key log of one context's clients.
class half_key_update
{
public:
    explicit half_key_update(context const& client_context) : ctx_{client_context.native_handle()}
    {
        secret().clear();
        SSL_CTX_set_keylog_callback(ctx_, [](SSL const*, char const* line) { take(line); });
    }
    half_key_update(half_key_update const&) = delete;
    half_key_update& operator=(half_key_update const&) = delete;
    ~half_key_update() { SSL_CTX_set_keylog_callback(ctx_, nullptr); }

    /// record is encrypted as the first record after the handshake of the latest client.
    [[nodiscard]] static std::string record()
    {
        REQUIRE_FALSE(secret().empty());
        EVP_CIPHER const* const cipher =
            secret().size() == 48 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
        std::string const key = expanded("key", secret().size() == 48 ? 32 : 16);
        std::string const nonce = expanded("iv", 12); // Of record 0: the IV as it is.
        std::string const inside{
            "\x18\x00\x00\x01\x16", 5}; // The last byte is the type: handshake.
        std::string made{"\x17\x03\x03\x00\x15", 5};
        std::array<unsigned char, 32> sealed{};
        std::array<char, 16> tag{};
        int n = 0;
        EVP_CIPHER_CTX* const c = EVP_CIPHER_CTX_new();
        REQUIRE(EVP_EncryptInit_ex(c, cipher, nullptr, octets_of(key), octets_of(nonce)) == 1);
        REQUIRE(EVP_EncryptUpdate(c, nullptr, &n, octets_of(made), 5) == 1);
        REQUIRE(EVP_EncryptUpdate(c, sealed.data(), &n, octets_of(inside), 5) == 1);
        REQUIRE(EVP_EncryptFinal_ex(c, sealed.data() + 5, &n) == 1);
        REQUIRE(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, 16, tag.data()) == 1);
        EVP_CIPHER_CTX_free(c);
        made.append(reinterpret_cast<char const*>(sealed.data()), 5);
        return made.append(tag.data(), tag.size());
    }

private:
    static std::string& secret()
    {
        static std::string latest;
        return latest;
    }

    static unsigned char const* octets_of(std::string const& text)
    {
        return reinterpret_cast<unsigned char const*>(text.data());
    }

    // "CLIENT_TRAFFIC_SECRET_0", the client's random and the secret, in hexadecimal.
    static void take(std::string_view line)
    {
        if (!line.starts_with("CLIENT_TRAFFIC_SECRET_0 "))
            return;
        secret().clear();
        for (line.remove_prefix(line.rfind(' ') + 1); line.size() >= 2; line.remove_prefix(2))
            secret().push_back(
                static_cast<char>(std::stoi(std::string{line.substr(0, 2)}, nullptr, 16)));
    }

    // The libraries do not agree on the type of a key's size.
    template <class Size>
    static void sign(
        unsigned char* (*hmac)(
            EVP_MD const*, void const*, Size, unsigned char const*, std::size_t, unsigned char*,
            unsigned*),
        EVP_MD const* hash, std::string const& text, unsigned char* mac, unsigned& n)
    {
        hmac(
            hash, secret().data(), static_cast<Size>(secret().size()), octets_of(text), text.size(),
            mac, &n);
    }

    // HKDF-Expand-Label (RFC 8446, section 7.1) of at most one hash length.
    static std::string expanded(std::string_view label, unsigned size)
    {
        std::string info{'\0', static_cast<char>(size), static_cast<char>(6 + label.size())};
        info.append("tls13 ").append(label).append({'\0', '\x01'});
        std::array<char, EVP_MAX_MD_SIZE> made{};
        unsigned n = 0;
        auto const mac = reinterpret_cast<unsigned char*>(made.data());
        sign(&HMAC, secret().size() == 48 ? EVP_sha384() : EVP_sha256(), info, mac, n);
        REQUIRE(n >= size);
        return {made.data(), size};
    }

    SSL_CTX* ctx_;
};

} // namespace cleat::tls
