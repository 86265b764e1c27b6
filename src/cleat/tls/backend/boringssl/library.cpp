// Where BoringSSL differs from the rest of its family.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/ml_dsa.hpp>
#include <cleat/tls/backend/bssl/ticket_count.hpp>
#include <cleat/tls/context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cleat::tls {
namespace {

// RFC 8446, appendix B.4: the suites of TLS 1.3 have these numbers.
constexpr std::uint16_t first_suite = 0x1301;
constexpr std::uint16_t last_suite = 0x1305;

// BoringSSL's own list of the schemes that a peer may sign with, and ECDSA on P-521, which it can
// verify and leaves out: servers and clients with such keys would be refused.
constexpr std::array<std::uint16_t, 10> peer_signatures{
    SSL_SIGN_ECDSA_SECP256R1_SHA256, SSL_SIGN_RSA_PSS_RSAE_SHA256,    SSL_SIGN_RSA_PKCS1_SHA256,
    SSL_SIGN_ECDSA_SECP384R1_SHA384, SSL_SIGN_RSA_PSS_RSAE_SHA384,    SSL_SIGN_RSA_PKCS1_SHA384,
    SSL_SIGN_RSA_PSS_RSAE_SHA512,    SSL_SIGN_ECDSA_SECP521R1_SHA512, SSL_SIGN_RSA_PKCS1_SHA512,
    SSL_SIGN_RSA_PKCS1_SHA1};

std::optional<std::uint16_t> suite_number(std::string_view name) noexcept
{
    for (std::uint16_t each = first_suite; each <= last_suite; ++each)
        if (SSL_CIPHER const* const suite = SSL_get_cipher_by_value(each);
            suite != nullptr && name == SSL_CIPHER_standard_name(suite))
            return each;
    return {};
}

} // namespace

ssl_ctx_ptr backend::library_state::new_ctx(bool server) const
{
    ssl_ctx_ptr ctx{SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())};
    if (ctx != nullptr && SSL_CTX_set_verify_algorithm_prefs(
                              ctx.get(), peer_signatures.data(), peer_signatures.size()) != 1)
        ctx.reset();
    return ctx;
}

// OpenSSL takes a list of names; BoringSSL takes numbers, and an empty list means its own order.
bool backend::set_ciphersuites(SSL_CTX* ctx, std::string const& names)
{
    std::vector<std::uint16_t> numbers;
    for (std::size_t begin = 0; begin <= names.size();) {
        std::size_t const end = std::min(names.find(':', begin), names.size());
        std::string_view const name{names.data() + begin, end - begin};
        std::optional<std::uint16_t> const number = suite_number(name);
        if (number)
            numbers.push_back(*number);
        else if (!name.empty())
            return false;
        begin = end + 1;
    }
    return !numbers.empty() &&
           SSL_CTX_set1_tls13_ciphers(ctx, numbers.data(), nullptr, numbers.size()) == 1;
}

// It signs with ML-DSA, but reads no such certificate or key from PEM.
std::optional<key_type> bssl::ml_dsa_type(EVP_PKEY const*) noexcept
{
    return {};
}

bool backend::can_verify(SSL_CTX*, signature_scheme_name const& scheme) noexcept
{
    bool const is_ml_dsa = scheme.number >= 0x0904 && scheme.number <= 0x0906;
    return !is_ml_dsa && SSL_get_signature_algorithm_name(scheme.number, 1) != nullptr;
}

// BoringSSL has a getter for the scheme that works until the handshake is done. A server signs in
// an earlier call than the one that ends the handshake: the client's Finished comes after the
// signature.
void backend::restore_message_callback(SSL* ssl) noexcept
{
    SSL_set_msg_callback(ssl, nullptr);
}

int backend::do_handshake(SSL* ssl, std::uint16_t& signing_scheme) noexcept
{
    bssl::set_ticket_count(ssl);
    int const value = SSL_do_handshake(ssl);
    bssl::note_ticket_age(ssl);
    if (std::uint16_t const scheme = SSL_get_signature_algorithm_used(ssl); scheme != 0)
        signing_scheme = scheme;
    return value;
}

// FIN without close_notify is no error in BoringSSL: engine::read and handshake find it by
// wire::in_ended.
bool backend::is_truncation(std::uint32_t) noexcept
{
    return false;
}

// The source has only an API version, which does not change with every commit: the crate that it
// came in identifies the commit.
std::string library_version()
{
    return fmt::format("BoringSSL API {} ({})", BORINGSSL_API_VERSION, CLEAT_BORINGSSL_SOURCE);
}

} // namespace cleat::tls
